-- steps_features.lua: training steps of features, pairs, graphs and decisions as plain PyTorch code has them, by name: each returns the function that runs one step.
local nn = use "nn"
local F = use "functional"
local optim = use "optim"
local common = use "steps_common"
local ids, data, adam, plain = common.ids, common.data, common.adam, common.plain
local steps = {}

-- Two towers whose outputs are compared with each other (CLIP).
local Tower = nn.class()
function Tower:init(width)
  self.net = nn.Sequential(nn.Linear(width, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 64))
end
function Tower:forward(x)
  return F.normalize(self.net(x), 2.0, -1)
end

local Clip = nn.class()
function Clip:init()
  self.a = Tower(300)
  self.b = Tower(200)
  self.logit_scale = nn.Parameter(torch.ones {})
end
function Clip:forward(x, y)
  local a, b = self.a(x), self.b(y)
  local logits = torch.matmul(self.logit_scale:exp() * a, b:t())
  local labels = torch.arange(x:size(0))
  return (F.cross_entropy(logits, labels) + F.cross_entropy(logits:t(), labels)) / 2
end

function steps.clip_contrastive()
  local model = nn.cuda(Clip)
  local optimizer = optim.make("adamw", nn.parameters(model), "foreach")
  local x, y = data(96, 300), data(96, 200)
  return plain(optimizer, function()
    return model(x, y)
  end, { clip = 1.0 })
end

-- A small model learns from the outputs of a large one.
function steps.distill_mlp()
  local T = nn.cuda(function()
    return nn.Sequential(nn.Linear(100, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
  end)
  local S = nn.cuda(function()
    return nn.Sequential(nn.Linear(100, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
  end)
  nn.train(T, false)
  local optimizer = optim.make("nesterov", nn.parameters(S), "foreach", 5e-4)
  local x, y = data(128, 100), ids(128)
  return plain(optimizer, function()
    local t = torch.no_grad(T, x)
    local s = S(x)
    local soft = F.kl_div(torch.log_softmax(s / 4.0, 1), torch.softmax(t / 4.0, 1), "batchmean") * 16.0
    return 0.7 * soft + 0.3 * F.cross_entropy(s, y, { label_smoothing = 0.1 })
  end, { accumulate = 2 })
end

-- Pairs of views of one sample against all others (SimCLR).
function steps.simclr()
  local encoder = nn.cuda(function()
    return nn.Sequential(nn.Linear(200, 256), nn.BatchNorm1d(256), nn.ReLUInPlace(), nn.Linear(256, 64))
  end)
  local optimizer = optim.make("adam", nn.parameters(encoder), "foreach", 1e-4)
  local x1, x2 = data(48, 200), data(48, 200)
  return plain(optimizer, function()
    local z = F.normalize(torch.cat({ encoder(x1), encoder(x2) }, 0), 2.0, 1)
    local sim = torch.matmul(z, z:t()) / 0.5
    local mask = torch.eye(96, torch.bool)
    sim = sim:masked_fill(mask, -1.0)
    local target = torch.cat({ torch.arange(48, 96), torch.arange(48) }, 0)
    return F.cross_entropy(sim, target)
  end)
end

-- Embeddings of categories beside numbers.
local Tabular = nn.class()
function Tabular:init()
  self.embs = nn.ModuleList { nn.Embedding(50, 8), nn.Embedding(20, 4), nn.Embedding(100, 16) }
  self.drop = nn.Dropout(0.1)
  self.bn = nn.BatchNorm1d(12)
  self.lin = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Dropout(0.2), nn.Linear(64, 1))
end
function Tabular:forward(c, x)
  local function embedded()
    local e = torch.list()
    for i = 0, 2 do
      e:append(self.embs[i](c:select(1, i)))
    end
    return self.drop(torch.cat(e, 1))
  end
  local e = embedded()
  x = self.bn(x)
  return self.lin(torch.cat({ e, x }, 1)):squeeze(-1)
end

function steps.tabular()
  local model = nn.cuda(Tabular)
  local optimizer = adam(model)
  local c, x, y = ids(256, 3), data(256, 12), data(256)
  local pos_weight = torch.full({}, 3.0)
  return plain(optimizer, function()
    return torch.binary_cross_entropy_with_logits(model(c, x), y, { pos_weight = pos_weight })
  end)
end

-- A policy and its value (PPO).
local ActorCritic = nn.class()
function ActorCritic:init()
  self.body = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
  self.pi = nn.Linear(64, 6)
  self.v = nn.Linear(64, 1)
end
function ActorCritic:forward(x)
  local h = self.body(x)
  return self.pi(h), self.v(h):squeeze(-1)
end

function steps.ppo()
  local model = nn.cuda(ActorCritic)
  local optimizer = adam(model)
  local obs, act, old, adv, ret = data(512, 24), ids(512), data(512), data(512), data(512)
  return plain(optimizer, function()
    local logits, v = model(obs)
    local logp = torch.log_softmax(logits, -1)
    local newlp = logp:gather(1, act:unsqueeze(-1)):squeeze(-1)
    local entropy = -(logp:exp() * logp):sum(-1)
    local ratio = (newlp - old):exp()
    local a = (adv - adv:mean()) / (adv:std() + 1e-8)
    local first = -a * ratio
    local second = -a * torch.clamp(ratio, 0.8, 1.2)
    local pg = torch.maximum(first, second):mean()
    first, second = nil, nil
    local vl = 0.5 * ((v - ret) ^ 2):mean()
    return pg - 0.01 * entropy:mean() + 0.5 * vl
  end, { clip = 0.5 })
end

-- Values of actions, against a copy of the model (DQN).
function steps.dqn()
  local function net()
    return nn.cuda(function()
      return nn.Sequential(nn.Linear(24, 128), nn.ReLU(), nn.Linear(128, 6))
    end)
  end
  local q, target_net = net(), net()
  local optimizer = optim.make("rmsprop", nn.parameters(q), "foreach")
  local s, a, r, s2, d = data(128, 24), ids(128, 1), data(128), data(128, 24), data(128)
  local function next_value()
    local nxt, where = target_net(s2):max(1)
    where = nil
    local target = r + 0.99 * nxt * (1 - d)
    return target, nxt
  end
  return plain(optimizer, function()
    local qa = q(s):gather(1, a):squeeze(1)
    local target, nxt = torch.no_grad(next_value)
    return F.smooth_l1_loss(qa, target)
  end)
end

-- Messages along the edges of a graph.
local GraphConv = nn.class()
function GraphConv:init(from, to)
  self.lin = nn.Linear(from, to, false)
  self.bias = nn.Parameter(torch.zeros { to })
end
function GraphConv:forward(x, src, dst, w)
  x = self.lin(x)
  local msg = x:index(src) * w:unsqueeze(-1)
  local out = torch.zeros_like(x):index_add_(0, dst, msg)
  return out + self.bias
end

local GCN = nn.class()
function GCN:init()
  self.c1 = GraphConv(64, 32)
  self.c2 = GraphConv(32, 7)
end
function GCN:forward(x, s, d, w)
  x = torch.relu(self.c1(x, s, d, w))
  x = torch.dropout(x, 0.5)
  return torch.log_softmax(self.c2(x, s, d, w), 1)
end

function steps.gcn()
  local model = nn.cuda(GCN)
  local optimizer = optim.make("adam", nn.parameters(model), "foreach", 5e-4)
  local x, s, d, w, y = data(300, 64), ids(2000), ids(2000), data(2000), ids(140)
  local index = torch.arange(140)
  return plain(optimizer, function()
    return torch.nll_loss(model(x, s, d, w):index(index), y)
  end)
end

-- A target network follows the trained one (BYOL).
function steps.byol()
  local function net(from, middle)
    return function()
      return nn.Sequential(nn.Linear(from, middle), nn.BatchNorm1d(middle), nn.ReLUInPlace(), nn.Linear(middle, 64))
    end
  end
  local online = nn.cuda(net(200, 256))
  local pred = nn.cuda(net(64, 128))
  local target = nn.cuda(net(200, 256))
  local followed, following = nn.parameters(online), nn.parameters(target)
  for i = 1, #following do
    following[i].requires_grad = false
  end
  local trained = torch.list()
  for i = 1, #followed do
    trained:append(followed[i])
  end
  local more = nn.parameters(pred)
  for i = 1, #more do
    trained:append(more[i])
  end
  local optimizer = optim.make("momentum", trained, "foreach")
  local x1 = data(48, 200)
  local x2 = data(48, 200)
  local function loss(p, z)
    return 2 - 2 * (F.normalize(p, 2.0, -1) * F.normalize(z, 2.0, -1)):sum(-1)
  end
  local function targets()
    return target(x1), target(x2)
  end
  local function follow()
    for i = 1, #followed do
      nn.set_data(following[i], 0.99 * following[i]:detach() + 0.01 * followed[i]:detach())
    end
  end
  return function()
    phase "forward"
    local p1, p2 = pred(online(x1)), pred(online(x2))
    local z1, z2 = torch.no_grad(targets)
    local l = (loss(p1, z2:detach()) + loss(p2, z1:detach())):mean()
    phase "optimizer"
    optimizer:zero_grad(true)
    phase "backward"
    l:backward()
    phase "optimizer"
    optimizer:step()
    phase "ema"
    torch.no_grad(follow)
  end
end

return steps
