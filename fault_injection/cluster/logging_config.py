"""How do a node's own log messages reach one file, whichever logging library its release uses?"""

from fault_injection.releases import LogBinding

_LOG4J1 = """log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File={log_file}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.kafka.request.logger=WARN
log4j.logger.org.apache.kafka.clients.NetworkClient=ERROR
"""

_LOG4J2 = """status=WARN
shutdownHook=disable
appender.file.type=File
appender.file.name=file
appender.file.fileName={log_file}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRef.file.ref=file
logger.requests.name=kafka.request.logger
logger.requests.level=WARN
logger.connections.name=org.apache.kafka.clients.NetworkClient
logger.connections.level=ERROR
"""

CONFIG_NAME = {LogBinding.LOG4J1: "log4j.properties", LogBinding.LOG4J2: "log4j2.properties"}
"""The name of the configuration file, by logging library."""


def logging_config(binding: LogBinding, log_file: str) -> str:
    """Give the logging configuration that appends everything from INFO up to one file."""
    template = _LOG4J1 if binding is LogBinding.LOG4J1 else _LOG4J2
    return template.format(log_file=log_file)


def logging_option(binding: LogBinding, config_file: str) -> str:
    """Give the Java option that points at a logging configuration file."""
    if binding is LogBinding.LOG4J1:
        return f"-Dlog4j.configuration=file:{config_file}"
    return f"-Dlog4j2.configurationFile=file:{config_file}"
