"""What the driver's JVM logs."""

from __future__ import annotations

from typing import Final

LOG4J: Final = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
logger.window.name = org.apache.spark.sql.execution.window.WindowExec
logger.window.level = off
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = off
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = off
logger.writer.name = org.apache.spark.sql.execution.datasources
logger.writer.level = off
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = off
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""
"""Settings of Log4j, as properties. Failures of tasks reach the user as the statement's error; Spark's log would print
them three more times."""
