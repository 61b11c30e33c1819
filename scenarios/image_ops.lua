-- image_ops.lua: the ops on images that no model of these scenarios runs, forward and backward, for a recording to compare with.
local cudnn = use "cudnn"
local nn = use "nn"
local p = parameters {
  { "channels_last", false, "images in channels_last" },
  { "dtype", "fp32", "type of everything", one_of = { "fp32", "bf16", "fp16" } },
  cudnn.workspace,
}
cudnn.configure(p)
torch.set_default_dtype(p.dtype)
local function param(...)
  return nn.Parameter(torch.empty({ ... }))
end
local ct_w, ct_b = param(12, 8, 4, 4), param(8)
local c1_w, c1_b = param(16, 6, 3), param(16)
local c3_w = param(8, 4, 3, 3, 3)
local g_w, g_b = param(12), param(12)
local b_w, b_b, b_m, b_v = param(64), param(64), nn.Buffer(torch.zeros({ 64 })), nn.Buffer(torch.ones({ 64 }))
local s_w = param(12, 12, 1, 1)
local x = torch.zeros({ 5, 12, 17, 19 }, p.dtype)
if p.channels_last then
  x = x:contiguous("channels_last")
end
local x1 = torch.zeros({ 3, 6, 33 }, p.dtype)
local x3 = torch.zeros({ 2, 4, 5, 7, 6 }, p.dtype)
local x2 = torch.zeros({ 700, 64 }, p.dtype)
local function resampling()
  local y = torch.conv2d(x, s_w)
  y = torch.conv_transpose2d(y, ct_w, ct_b, { 2, 2 }, { 1, 1 }, { 1, 1 }, 1, { 0, 0 })
  y = torch.avg_pool2d(y, { 3, 3 }, { 2, 2 }, { 1, 1 })
  y = torch.upsample_bilinear2d(y, { 30, 20 })
  y = torch.adaptive_avg_pool2d(y, { 3, 5 })
  y = torch.upsample_nearest2d(y, { 9, 10 })
  y = torch.max_pool2d(y, { 2, 2 }, { 2, 2 })
  local loss = y:sum()
  loss:backward()
end
local function one_dimension()
  local y = torch.conv1d(x1, c1_w, c1_b, { 2 }, { 1 })
  y = torch.relu(y)
  local loss = y:sum()
  loss:backward()
end
local function three_dimensions()
  local y = torch.conv3d(x3, c3_w, nil, { 1, 2, 1 }, { 1, 1, 1 })
  local loss = y:sum()
  loss:backward()
end
local function group_norm()
  local y = torch.conv2d(x, s_w)
  y = torch.group_norm(y, 4, g_w, g_b)
  y = torch.hardtanh(y)
  y = y:mean(3):mean(2)
  y = torch.group_norm(y, 6, g_w, g_b)
  local loss = y:sum()
  loss:backward()
end
local function batch_norm_of_rows()
  local y = torch.batch_norm(x2, b_m, b_v, b_w, b_b, true)
  y = torch.relu_(y)
  local loss = y:sum()
  loss:backward()
end
begin_step(1)
resampling()
one_dimension()
three_dimensions()
group_norm()
batch_norm_of_rows()
