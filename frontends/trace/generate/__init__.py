"""Random traces that keep to the model of an API."""
