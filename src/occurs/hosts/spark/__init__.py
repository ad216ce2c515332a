"""The Spark hosts' common ground and the batch host: see :mod:`occurs.hosts.spark.batch`."""

from occurs.hosts.spark.batch import PARTITIONS, SparkDetections, detect
from occurs.hosts.spark.read import read

__all__ = ["PARTITIONS", "SparkDetections", "detect", "read"]
