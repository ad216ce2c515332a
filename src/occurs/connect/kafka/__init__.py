"""Events from Kafka and detections to Kafka, by Spark's own connector (``spark-sql-kafka-0-10``).

PySpark is imported when a function that needs it is called, not before.
"""

from __future__ import annotations

from occurs.connect.kafka.place import KafkaPlace as KafkaPlace
from occurs.connect.kafka.session import kafka_session as kafka_session
from occurs.connect.kafka.session import packages as packages
from occurs.connect.kafka.session import reach as reach
from occurs.connect.kafka.session import require as require
from occurs.connect.kafka.session import settings as settings
from occurs.connect.kafka.sink import KafkaSink as KafkaSink
from occurs.connect.kafka.sink import letters as letters
from occurs.connect.kafka.source import BROKEN as BROKEN
from occurs.connect.kafka.source import REASON as REASON
from occurs.connect.kafka.source import sample_schema as sample_schema
from occurs.connect.kafka.source import stream as stream
