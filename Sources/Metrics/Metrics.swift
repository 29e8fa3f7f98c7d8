enum MetricsRoom {}
