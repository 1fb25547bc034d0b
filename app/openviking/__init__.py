"""The only place that knows OpenViking's URLs and errors."""
