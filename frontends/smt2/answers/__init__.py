"""What solvers say about a script: models, cores, instances, refusals."""
