"""How much of a release's model have real brokers been through, with every number as predicted?"""
