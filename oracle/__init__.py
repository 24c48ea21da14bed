"""The reference model of Kafka's replication protocol: pure functions over frozen values.

Nothing here reads a clock, a file or a socket, draws a random number or imports another
package of this project, so one schedule under one rule set always gives one prediction.
"""
