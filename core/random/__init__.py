"""Random numbers bit for bit as TensorFlow's: Philox, distributions, samplers and shuffles.

Keys and counters in, arrays out. Knows neither graphs nor ops.
"""
