-- vision.lua: image classifiers as torchvision 0.30 builds and runs them (models/resnet.py, mobilenetv2.py,
-- vision_transformer.py, ops/misc.py), name by name.
local nn = use "nn"
local transformer = use "transformer"
local vision = {}

-- ---- ResNet ----

local function conv3x3(in_planes, out_planes, stride)
  return nn.Conv2d(in_planes, out_planes, 3, { stride = stride, padding = 1, bias = false })
end

local function conv1x1(in_planes, out_planes, stride)
  return nn.Conv2d(in_planes, out_planes, 1, { stride = stride, bias = false })
end

local BasicBlock = nn.class()
BasicBlock.expansion = 1
function BasicBlock:init(inplanes, planes, stride, downsample)
  self.conv1 = conv3x3(inplanes, planes, stride)
  self.bn1 = nn.BatchNorm2d(planes)
  self.relu = nn.ReLUInPlace()
  self.conv2 = conv3x3(planes, planes, 1)
  self.bn2 = nn.BatchNorm2d(planes)
  if downsample then
    self.downsample = downsample
  end
end
function BasicBlock:forward(x)
  local identity = x
  local out = self.conv1(x)
  out = self.bn1(out)
  out = self.relu(out)
  out = self.conv2(out)
  out = self.bn2(out)
  if self.downsample then
    identity = self.downsample(x)
  end
  out = out:add_(identity)
  out = self.relu(out)
  return out
end

local Bottleneck = nn.class()
Bottleneck.expansion = 4
function Bottleneck:init(inplanes, planes, stride, downsample, groups, base_width)
  local width = planes * base_width // 64 * groups
  self.conv1 = conv1x1(inplanes, width, 1)
  self.bn1 = nn.BatchNorm2d(width)
  self.conv2 = nn.Conv2d(width, width, 3, { stride = stride, padding = 1, groups = groups, bias = false })
  self.bn2 = nn.BatchNorm2d(width)
  self.conv3 = conv1x1(width, planes * self.expansion, 1)
  self.bn3 = nn.BatchNorm2d(planes * self.expansion)
  self.relu = nn.ReLUInPlace()
  if downsample then
    self.downsample = downsample
  end
end
function Bottleneck:forward(x)
  local identity = x
  local out = self.conv1(x)
  out = self.bn1(out)
  out = self.relu(out)
  out = self.conv2(out)
  out = self.bn2(out)
  out = self.relu(out)
  out = self.conv3(out)
  out = self.bn3(out)
  if self.downsample then
    identity = self.downsample(x)
  end
  out = out:add_(identity)
  out = self.relu(out)
  return out
end

local ResNet = nn.class()
function ResNet:init(block, layers, num_classes, groups, width_per_group)
  local inplanes = 64
  local function make_layer(planes, blocks, stride)
    local downsample
    if stride ~= 1 or inplanes ~= planes * block.expansion then
      downsample =
        nn.Sequential(conv1x1(inplanes, planes * block.expansion, stride), nn.BatchNorm2d(planes * block.expansion))
    end
    local list = { block(inplanes, planes, stride, downsample, groups, width_per_group) }
    inplanes = planes * block.expansion
    for i = 2, blocks do
      list[i] = block(inplanes, planes, 1, nil, groups, width_per_group)
    end
    return nn.Sequential(table.unpack(list))
  end
  self.conv1 = nn.Conv2d(3, inplanes, 7, { stride = 2, padding = 3, bias = false })
  self.bn1 = nn.BatchNorm2d(inplanes)
  self.relu = nn.ReLUInPlace()
  self.maxpool = nn.MaxPool2d(3, 2, 1)
  self.layer1 = make_layer(64, layers[1], 1)
  self.layer2 = make_layer(128, layers[2], 2)
  self.layer3 = make_layer(256, layers[3], 2)
  self.layer4 = make_layer(512, layers[4], 2)
  self.avgpool = nn.AdaptiveAvgPool2d(1)
  self.fc = nn.Linear(512 * block.expansion, num_classes)
end
function ResNet:forward(x)
  x = self.conv1(x)
  x = self.bn1(x)
  x = self.relu(x)
  x = self.maxpool(x)
  x = self.layer1(x)
  x = self.layer2(x)
  x = self.layer3(x)
  x = self.layer4(x)
  x = self.avgpool(x)
  x = torch.flatten(x, 1)
  x = self.fc(x)
  return x
end

local function resnet(block, layers, groups, width_per_group)
  return function(num_classes)
    return ResNet(block, layers, num_classes, groups or 1, width_per_group or 64)
  end
end

-- ---- MobileNetV2 ----

local function conv_norm_activation(in_channels, out_channels, kernel_size, stride, groups)
  return nn.Sequential(
    nn.Conv2d(in_channels, out_channels, kernel_size, {
      stride = stride,
      padding = (kernel_size - 1) // 2,
      groups = groups,
      bias = false,
    }),
    nn.BatchNorm2d(out_channels),
    nn.ReLU6InPlace()
  )
end

local InvertedResidual = nn.class()
function InvertedResidual:init(inp, oup, stride, expand_ratio)
  local hidden_dim = inp * expand_ratio
  self.use_res_connect = stride == 1 and inp == oup
  local layers = {}
  if expand_ratio ~= 1 then
    layers[1] = conv_norm_activation(inp, hidden_dim, 1, 1, 1)
  end
  layers[#layers + 1] = conv_norm_activation(hidden_dim, hidden_dim, 3, stride, hidden_dim)
  layers[#layers + 1] = nn.Conv2d(hidden_dim, oup, 1, { bias = false })
  layers[#layers + 1] = nn.BatchNorm2d(oup)
  self.conv = nn.Sequential(table.unpack(layers))
end
function InvertedResidual:forward(x)
  if self.use_res_connect then
    return x + self.conv(x)
  else
    return self.conv(x)
  end
end

-- t, c, n, s
local inverted_residual_setting = {
  { 1, 16, 1, 1 },
  { 6, 24, 2, 2 },
  { 6, 32, 3, 2 },
  { 6, 64, 4, 2 },
  { 6, 96, 3, 1 },
  { 6, 160, 3, 2 },
  { 6, 320, 1, 1 },
}

local MobileNetV2 = nn.class()
function MobileNetV2:init(num_classes)
  local input_channel, last_channel = 32, 1280
  local features = { conv_norm_activation(3, input_channel, 3, 2, 1) }
  for _, setting in ipairs(inverted_residual_setting) do
    local t, c, n, s = table.unpack(setting)
    for i = 1, n do
      features[#features + 1] = InvertedResidual(input_channel, c, i == 1 and s or 1, t)
      input_channel = c
    end
  end
  features[#features + 1] = conv_norm_activation(input_channel, last_channel, 1, 1, 1)
  self.features = nn.Sequential(table.unpack(features))
  self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last_channel, num_classes))
end
function MobileNetV2:forward(x)
  x = self.features(x)
  x = torch.adaptive_avg_pool2d(x, { 1, 1 })
  x = torch.flatten(x, 1)
  x = self.classifier(x)
  return x
end

-- ---- VisionTransformer ----

local function mlp_block(in_dim, mlp_dim, dropout)
  return nn.Sequential(
    nn.Linear(in_dim, mlp_dim),
    nn.GELU(),
    nn.Dropout(dropout),
    nn.Linear(mlp_dim, in_dim),
    nn.Dropout(dropout)
  )
end

local EncoderBlock = nn.class()
function EncoderBlock:init(num_heads, hidden_dim, mlp_dim, dropout)
  self.ln_1 = nn.LayerNorm(hidden_dim)
  self.self_attention = transformer.MultiheadAttention(hidden_dim, num_heads, 0.0, true)
  self.dropout = nn.Dropout(dropout)
  self.ln_2 = nn.LayerNorm(hidden_dim)
  self.mlp = mlp_block(hidden_dim, mlp_dim, dropout)
end
function EncoderBlock:forward(input)
  local x = self.ln_1(input)
  local _
  x, _ = self.self_attention(x, false)
  x = self.dropout(x)
  x = x + input
  local y = self.ln_2(x)
  y = self.mlp(y)
  return x + y
end

local Encoder = nn.class()
function Encoder:init(seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout)
  self.pos_embedding = nn.Parameter(torch.empty({ 1, seq_length, hidden_dim }))
  self.dropout = nn.Dropout(dropout)
  local layers = {}
  for i = 1, num_layers do
    layers[i] = EncoderBlock(num_heads, hidden_dim, mlp_dim, dropout)
  end
  self.layers = nn.Sequential(table.unpack(layers))
  self.ln = nn.LayerNorm(hidden_dim)
end
function Encoder:forward(input)
  input = input + self.pos_embedding
  return self.ln(self.layers(self.dropout(input)))
end

local VisionTransformer = nn.class()
function VisionTransformer:init(image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, num_classes)
  assert(image_size % patch_size == 0, "image_size must be a multiple of the patch size")
  self.patch_size, self.hidden_dim = patch_size, hidden_dim
  self.conv_proj = nn.Conv2d(3, hidden_dim, patch_size, { stride = patch_size })
  self.class_token = nn.Parameter(torch.zeros({ 1, 1, hidden_dim }))
  local seq_length = (image_size // patch_size) ^ 2 // 1 | 0
  self.encoder = Encoder(seq_length + 1, num_layers, num_heads, hidden_dim, mlp_dim, 0.0)
  self.heads = nn.Sequential(nn.Linear(hidden_dim, num_classes))
end
function VisionTransformer:process_input(x)
  local n, n_h, n_w = x:size(0), x:size(2) // self.patch_size, x:size(3) // self.patch_size
  x = self.conv_proj(x)
  x = x:reshape(n, self.hidden_dim, n_h * n_w)
  x = x:permute(0, 2, 1)
  return x
end
function VisionTransformer:forward(x)
  x = self:process_input(x)
  local n = x:size(0)
  local batch_class_token = self.class_token:expand(n, -1, -1)
  x = torch.cat({ batch_class_token, x }, 1)
  x = self.encoder(x)
  x = x:select(1, 0)
  x = self.heads(x)
  return x
end

local function vit(patch_size, num_layers, num_heads, hidden_dim, mlp_dim)
  return function(num_classes, config)
    return VisionTransformer(config.image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, num_classes)
  end
end

-- By torchvision's names: vision.models[name](num_classes, { image_size = ... })
vision.models = {
  resnet18 = resnet(BasicBlock, { 2, 2, 2, 2 }),
  resnet34 = resnet(BasicBlock, { 3, 4, 6, 3 }),
  resnet50 = resnet(Bottleneck, { 3, 4, 6, 3 }),
  resnet101 = resnet(Bottleneck, { 3, 4, 23, 3 }),
  resnet152 = resnet(Bottleneck, { 3, 8, 36, 3 }),
  resnext50_32x4d = resnet(Bottleneck, { 3, 4, 6, 3 }, 32, 4),
  wide_resnet50_2 = resnet(Bottleneck, { 3, 4, 6, 3 }, 1, 128),
  mobilenet_v2 = MobileNetV2,
  vit_b_16 = vit(16, 12, 12, 768, 3072),
  vit_b_32 = vit(32, 12, 12, 768, 3072),
  vit_l_16 = vit(16, 24, 16, 1024, 4096),
  vit_l_32 = vit(32, 24, 16, 1024, 4096),
  vit_h_14 = vit(14, 32, 16, 1280, 5120),
}

return vision
