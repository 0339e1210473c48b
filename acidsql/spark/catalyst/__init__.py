"""Every private class and method of Spark that acidsql calls, through py4j."""
