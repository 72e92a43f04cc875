"""Random numbers as TensorFlow draws them, bit for bit: Philox, its distributions, samplers and shuffles.

Keys and counters in, arrays out. Knows neither graphs nor ops.
"""
