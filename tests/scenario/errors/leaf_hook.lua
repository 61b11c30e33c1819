torch.register_post_accumulate_grad_hook(torch.zeros({ 2 }), print)
