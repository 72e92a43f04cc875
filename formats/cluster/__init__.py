"""TensorFlow's clusters: a client of the MasterService that its servers speak. Needs grpcio, which `tfg[cluster]` brings."""
