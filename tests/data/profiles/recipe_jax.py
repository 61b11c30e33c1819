"""recipe_jax.py FILE: jax.prof of this folder."""
import sys

import jax
import jax.numpy as jnp


def layer(x):
    return jnp.tanh(x @ jnp.ones((256, 512)))


def model(x):
    y = layer(x)
    return y, jnp.zeros((128, 3))


x = jnp.ones((1000, 256))
y, z = model(x)
w = jax.jit(lambda a: a * 2)(y)
jax.block_until_ready(w)
jax.profiler.save_device_memory_profile(sys.argv[1])
