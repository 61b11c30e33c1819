/* op.c: the list of op tables. */
#include "op.h"

static const struct op *const tables[] = {
    ops_factory,
    ops_overwrite,
    ops_elementwise,
    ops_activation,
    ops_reduce,
    ops_norm_vector,
    ops_view,
    ops_join,
    ops_matmul,
    ops_linear,
    ops_softmax,
    ops_loss,
    ops_embedding,
    ops_attention,
    ops_scan,
    ops_foreach,
    ops_fused,
    ops_device_copy,
    ops_norm,
    ops_dropout,
    ops_split,
    ops_index,
    ops_grouped,
    ops_float8,
    ops_format,
    ops_conv,
    ops_norm_batch,
    ops_pool,
    ops_rnn,
    ops_unbind,
    ops_masked,
    ops_dims,
    ops_norm_group,
    ops_upsample,
    ops_quantized,
    ops_einsum,
    ops_nonzero,
    ops_activation_fused,
    ops_math,
    ops_extreme,
    ops_moments,
    ops_blend,
    ops_loss_pair,
    ops_scatter,
    ops_vector_product,
    ops_pool_nd,
    ops_pixels,
    ops_norm_rms,
    ops_complex,
};

const struct op *op_row(size_t index) {
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct op *op = tables[t]; op->name; op++)
            if (index-- == 0)
                return op;
    return NULL;
}
