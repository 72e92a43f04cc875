"""TensorFlow's clusters: a client of the MasterService, spoken by TensorFlow's servers. Needs grpcio, of `tfg[cluster]`."""
