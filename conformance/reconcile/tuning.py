"""Which settings of Spark suit few records, and which suit many?

Few: no code is generated, since compiling it takes longer than the query. Many: everything that keeps a query
of 10^7 records bounded. Both give the same answers.
"""

from pyspark.sql import SparkSession

#: From this many records on, a query counts as one over many.
MANY_RECORDS = 200_000

FEW = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}
MANY = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.shuffle.partitions": "16",
}


def tune(spark: SparkSession, records: int) -> bool:
    """Set the session up for queries over so many records; say whether they are many."""
    is_many = records >= MANY_RECORDS
    for name, value in (MANY if is_many else FEW).items():
        spark.conf.set(name, value)
    return is_many
