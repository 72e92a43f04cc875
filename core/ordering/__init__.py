"""The order of effects: reads and writes of state, races between them, and TensorFlow's scheduling order."""
