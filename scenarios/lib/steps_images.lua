-- steps_images.lua: training steps of images as plain PyTorch code has them, by name: each returns the function that runs one step.
local nn = use "nn"
local F = use "functional"
local optim = use "optim"
local amp = use "amp"
local transformer = use "transformer"
local common = use "steps_common"
local ids, data, adam, plain = common.ids, common.data, common.adam, common.plain
local steps = {}

-- A variational autoencoder of images: convolutions, a drawn code, transposed convolutions.
local VAE = nn.class()
function VAE:init()
  local conv = { stride = 2, padding = 1 }
  self.enc = nn.Sequential(nn.Conv2d(1, 16, 4, conv), nn.BatchNorm2d(16), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, conv),
    nn.BatchNorm2d(32), nn.LeakyReLU(0.2), nn.Flatten())
  self.mu = nn.Linear(32 * 49, 20)
  self.logvar = nn.Linear(32 * 49, 20)
  self.fc = nn.Linear(20, 32 * 49)
  self.dec = nn.Sequential(nn.ConvTranspose2d(32, 16, 4, conv), nn.BatchNorm2d(16), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, conv),
    nn.Sigmoid())
end
function VAE:forward(x)
  local h = self.enc(x)
  local mu, logvar = self.mu(h), self.logvar(h)
  local std = torch.exp(0.5 * logvar)
  local eps = torch.randn_like(std)
  local z = mu + eps * std
  return self.dec(self.fc(z):view(-1, 32, 7, 7)), mu, logvar
end

function steps.vae_conv()
  local model = nn.cuda(VAE)
  local optimizer = adam(model)
  local x = data(64, 1, 28, 28)
  return plain(optimizer, function()
    local r, mu, logvar = model(x)
    local bce = torch.binary_cross_entropy(r, x, { reduction = "sum" })
    local kld = -0.5 * torch.sum(1 + logvar - mu:pow(2) - logvar:exp())
    return bce + kld
  end)
end

-- A generator and a discriminator, each with its optimizer.
function steps.gan_dcgan()
  local function up(from, to, stride, padding)
    return nn.ConvTranspose2d(from, to, 4, { stride = stride, padding = padding, bias = false })
  end
  local function down(from, to, stride, padding)
    return nn.Conv2d(from, to, 4, { stride = stride, padding = padding, bias = false })
  end
  local G = nn.cuda(function()
    return nn.Sequential(up(50, 64, 1, 0), nn.BatchNorm2d(64), nn.ReLUInPlace(), up(64, 32, 2, 1), nn.BatchNorm2d(32),
      nn.ReLUInPlace(), up(32, 3, 2, 1), nn.Tanh())
  end)
  local D = nn.cuda(function()
    return nn.Sequential(down(3, 32, 2, 1), nn.LeakyReLU(0.2, true), down(32, 64, 2, 1), nn.BatchNorm2d(64), nn.LeakyReLU(0.2, true),
      down(64, 1, 1, 0), nn.Flatten())
  end)
  local oD, oG = adam(D), adam(G)
  local real = data(32, 3, 16, 16)
  local function crit(output, label)
    return torch.binary_cross_entropy_with_logits(output, label)
  end
  return function()
    oD:zero_grad(true)
    local label = torch.full({ 32 }, 1.0)
    local output = D(real):view(-1)
    local errD_real = crit(output, label)
    errD_real:backward()
    local noise = torch.randn { 32, 50, 1, 1 }
    local fake = G(noise)
    label:fill_()
    output = D(fake:detach()):view(-1)
    local errD_fake = crit(output, label)
    errD_fake:backward()
    local errD = errD_real + errD_fake
    oD:step()
    oG:zero_grad(true)
    label:fill_()
    output = D(fake):view(-1)
    local errG = crit(output, label)
    errG:backward()
    oG:step()
  end
end

-- A vision transformer of torch.nn.MultiheadAttention.
local ViTBlock = nn.class()
function ViTBlock:init()
  self.n1 = nn.LayerNorm(64)
  self.attn = transformer.MultiheadAttention(64, 4, 0.1, true)
  self.n2 = nn.LayerNorm(64)
  self.mlp = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 64), nn.Dropout(0.1))
end
function ViTBlock:forward(x)
  local h = self.n1(x)
  x = x + self.attn(h, false)
  return x + self.mlp(self.n2(x))
end

local ViT = nn.class()
function ViT:init()
  self.cls = nn.Parameter(torch.zeros { 1, 1, 64 })
  self.pos = nn.Parameter(torch.zeros { 1, 17, 64 })
  self.patch = nn.Conv2d(3, 64, 8, { stride = 8 })
  self.blocks = nn.Sequential(ViTBlock(), ViTBlock())
  self.norm = nn.LayerNorm(64)
  self.head = nn.Linear(64, 10)
end
function ViT:forward(x)
  x = self.patch(x):flatten(2):transpose(1, 2)
  x = torch.cat({ self.cls:expand(x:size(0), -1, -1), x }, 1) + self.pos
  x = self.blocks(x)
  return self.head(self.norm(x:select(1, 0)))
end

function steps.vit_scratch()
  local model = nn.cuda(ViT)
  local optimizer = optim.make("adamw", nn.parameters(model), "foreach")
  local x = data(16, 3, 32, 32)
  local y = ids(16)
  return plain(optimizer, function()
    return F.cross_entropy(model(x), y, { label_smoothing = 0.1 })
  end, { autocast = "bf16" })
end

-- Segmentation: a U-Net, cross entropy and dice, under autocast with a scaler.
local DoubleConv = nn.class()
function DoubleConv:init(from, to)
  local conv = { padding = 1, bias = false }
  self.net = nn.Sequential(nn.Conv2d(from, to, 3, conv), nn.BatchNorm2d(to), nn.ReLUInPlace(), nn.Conv2d(to, to, 3, conv),
    nn.BatchNorm2d(to), nn.ReLUInPlace())
end
function DoubleConv:forward(x)
  return self.net(x)
end

local UNet = nn.class()
function UNet:init()
  self.d1 = DoubleConv(3, 16)
  self.d2 = DoubleConv(16, 32)
  self.d3 = DoubleConv(32, 64)
  self.pool = nn.MaxPool2d(2)
  self.up = nn.Upsample { scale_factor = 2, mode = "bilinear" }
  self.u2 = DoubleConv(96, 32)
  self.t1 = nn.ConvTranspose2d(32, 16, 2, { stride = 2 })
  self.u1 = DoubleConv(32, 16)
  self.out = nn.Conv2d(16, 5, 1)
end
function UNet:forward(x)
  local x1 = self.d1(x)
  local x2 = self.d2(self.pool(x1))
  local x3 = self.d3(self.pool(x2))
  local y = self.u2(torch.cat({ x2, self.up(x3) }, 1))
  y = self.u1(torch.cat({ x1, self.t1(y) }, 1))
  return self.out(y)
end

function steps.unet_seg()
  local model = nn.cuda(UNet)
  local optimizer = optim.make("rmsprop", nn.parameters(model), "foreach", 1e-8)
  local scaler = amp.GradScaler()
  local x = data(4, 3, 64, 64)
  local t = ids(4, 64, 64)
  local function loss_of()
    local pred = model(x)
    local ce = F.cross_entropy(pred, t)
    local p = torch.softmax(pred, 1):float()
    local q = F.one_hot(t, 5):permute(0, 3, 1, 2):float()
    local inter = 2 * (p * q):sum { dim = { -1, -2 } }
    local sets = p:sum { dim = { -1, -2 } } + q:sum { dim = { -1, -2 } }
    local dice = (inter + 1e-6) / (sets + 1e-6)
    return ce + 1 - dice:mean()
  end
  return function()
    phase "forward"
    local loss = torch.autocast("fp16", loss_of)
    optimizer:zero_grad(true)
    phase "backward"
    scaler:scale(loss):backward()
    phase "optimizer"
    scaler:unscale_(optimizer)
    optim.clip_grad_norm_(optimizer.params, 1.0)
    scaler:step(optimizer)
    scaler:update()
  end
end

return steps
