-- gpt2_in_c.lua: what a GPT-2 step written in C (llm.c, with cuDNN's attention) holds: every tensor by its name there, kept to
-- the end of the run. bf16; means, reciprocal deviations and losses as there.
local p = parameters {
  { "part", "all", "what is allocated", one_of = { "all", "parameters", "gradients", "activations", "activation_gradients", "moment" } },
  { "B", 32, "batch", min = 1 },
  { "T", 1024, "tokens", min = 1 },
  { "C", 768, "channels", min = 1 },
  { "L", 12, "layers", min = 1 },
  { "NH", 12, "heads", min = 1 },
  { "Vp", 50304, "padded vocabulary", min = 1 },
  { "parameters", 124475904, "number of parameters", min = 1 },
}
local B, T, C, L, NH, Vp = p.B, p.T, p.C, p.L, p.NH, p.Vp
local bf16, fp32 = torch.bfloat16, torch.float32
local kept = torch.list()
local function take(dtype, ...)
  kept:append(torch.empty({ ... }, dtype))
end
local parts = {}
function parts.parameters()
  take(bf16, p.parameters)
end
parts.gradients = parts.parameters
function parts.activations()
  take(bf16, B, T, C) -- encoded
  for _, width in ipairs { C, C, C, C, C, 4 * C, 4 * C, C, C, 3 * C } do
    take(bf16, L, B, T, width) -- ln1 atty attproj residual2 ln2 fch fch_gelu fcproj residual3 qkvr
  end
  take(fp32, L, B, NH, T) -- att: cuDNN's statistics
  for _ = 1, 4 do
    take(bf16, L, B, T) -- ln1_mean ln1_rstd ln2_mean ln2_rstd
  end
  take(bf16, B, T, C) -- lnf
  take(bf16, B, T) -- lnf_mean
  take(bf16, B, T) -- lnf_rstd
  take(fp32, B, T) -- losses
  take(bf16, B, T, Vp) -- output
end
function parts.activation_gradients()
  take(bf16, B, T, 4 * C) -- bt4c
  take(bf16, B, T, C) -- residual3
end
function parts.moment()
  take(fp32, p.parameters)
end
begin_step(1)
if p.part ~= "all" then
  parts[p.part]()
else
  for _, name in ipairs { "parameters", "gradients", "activations", "activation_gradients", "moment", "moment", "moment" } do
    parts[name]()
  end
end
