/**
 * Compares `orchctl describe` with kubectl on the same server, for the kinds with their own descriptions
 * (`described.yaml`). orchctl shows every row that kubectl shows, except for rows that are omitted intentionally.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textIn } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { describers } from '../../../src/tools/cli/commands/describe/describers.ts'
import { serveUp } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'
import { configOf, orchctl } from '../../support/orchctl.ts'
import { withoutRootCa } from '../../support/server.ts'
import { untilTrue } from '../../support/until.ts'

const server = await serveUp({ after }, ['--profile=kubernetes', `${withoutRootCa},scheduler`])
const env = { KUBECONFIG: configOf(server) }

test('orchctl describe shows why each node is unsuitable for an unscheduled pod', async () => {
  const client = server.client()
  const spec = { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false }
  assert.equal(
    (await client.post('/api/v1/namespaces/default/pods', { metadata: { name: 'stuck' }, spec })).status,
    201,
  )
  const isRefused = async () => {
    const { body } = await client.get('/api/v1/namespaces/default/pods/stuck')
    return JSON.stringify(body).includes('Unschedulable')
  }
  await untilTrue(isRefused)
  const { stdout } = await orchctl(['describe', 'pod', 'stuck'], { env })
  assert.match(stdout, /\nNodes:\n {2}n1 +node\(s\) were unschedulable\n/)
  assert.match(stdout, /FailedScheduling .* 0\/1 nodes are available: 1 node\(s\) were unschedulable\.\n/)
})

const day = '2026-01-01T00:00:00Z'
const terminated = { startedAt: day, finishedAt: '2026-01-01T00:00:05Z' }

const statuses: { readonly [path: string]: object } = {
  '/api/v1/nodes/n1': {
    capacity: { cpu: '4', memory: '8Gi', pods: '110' },
    allocatable: { cpu: '3800m', memory: '7Gi', pods: '110' },
    addresses: [{ type: 'InternalIP', address: '10.0.0.9' }],
    nodeInfo: {
      machineID: 'm',
      systemUUID: 'u',
      bootID: 'b',
      kernelVersion: '6.1',
      osImage: 'Debian',
      containerRuntimeVersion: 'c',
      kubeletVersion: 'v1',
      kubeProxyVersion: 'v1',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    conditions: [{ type: 'Ready', status: 'True', reason: 'Up', lastHeartbeatTime: day, lastTransitionTime: day }],
  },
  '/api/v1/namespaces/default/pods/p': {
    phase: 'Running',
    hostIP: '10.0.0.9',
    podIP: '10.1.0.5',
    podIPs: [{ ip: '10.1.0.5' }],
    startTime: day,
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [
      {
        name: 'a',
        image: 'nginx',
        imageID: 'i',
        containerID: 'c',
        ready: true,
        restartCount: 2,
        state: { running: { startedAt: day } },
        lastState: { terminated: { exitCode: 1, reason: 'Error', message: 'boom', ...terminated } },
      },
    ],
  },
  '/apis/batch/v1/namespaces/default/jobs/j': { active: 1, succeeded: 2, startTime: day, completedIndexes: '0,1' },
}

before(async () => {
  const made = await orchctl(['apply', '-f', join(import.meta.dirname, 'described.yaml')], { env })
  assert.equal(made.code, 0, made.stderr)
  const client = server.client()
  for (const [path, status] of Object.entries(statuses)) {
    const { body } = await client.get(path)
    const { status: code } = await client.put(`${path}/status`, { ...(body as object), status })
    assert.equal(code, 200, path)
  }
  const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' }
  const event = { metadata: { name: 'e' }, involvedObject, type: 'Normal', reason: 'Pulled', message: 'image is there' }
  assert.equal((await client.post('/api/v1/namespaces/default/events', event)).status, 201)
})

/** The objects to describe, in the order of the describers, each with the kubectl rows that orchctl omits. */
const rows: readonly (readonly [object: string, leftOut?: readonly string[]])[] = [
  ['pod/p', ['ConfigMapName', 'ConfigMapOptional', 'DownwardAPI', 'TokenExpirationSeconds']],
  ['node/n1', ['Lease']],
  ['job/j'],
  ['cronjob/cj'],
  ['pvc/c'],
  ['pv/pv'],
  ['statefulset/ss'],
  ['daemonset/ds'],
  ['replicaset/rs'],
  ['rc/rc'],
  ['sa/sa'],
  ['role/r'],
  ['clusterrole/zz'],
  ['rolebinding/rb'],
  ['ingress/ing'],
  ['networkpolicy/np', ['Created on', 'Not affecting egress traffic']],
  ['quota/q'],
  ['limits/lr'],
  ['storageclass/fast'],
  ['hpa/hpa'],
  ['pdb/pdb'],
  ['priorityclass/hi'],
  ['endpoints/ep'],
  ['endpointslice/es', ['Topology']],
  ['ingressclass/nginx'],
]

/** Splits a text into descriptions of single objects. */
function split(text: string): string[] {
  return text.split(/\n\n(?=\n?Name:)|(?<=^)(?=Name:)/m).filter((part) => part.trim() !== '')
}

function titles(text: string): string[] {
  return Array.from(text.matchAll(/^\s*([A-Z][\w /-]*):(?: |$)/gm), ([, title]) => title!)
}

const names = rows.map(([object]) => object)

test('orchctl describe shows every row that kubectl shows', async () => {
  const [mine, others] = await Promise.all([
    orchctl(['describe', ...names], { env }),
    kubectl(server, ['describe', ...names]),
  ])
  assert.deepEqual([mine.code, mine.stderr, others.code], [0, '', 0])
  const ownSections = split(mine.stdout)
  const right = split(others.stdout)
  assert.deepEqual([ownSections.length, right.length], [rows.length, rows.length])
  for (const [i, [object, leftOut = []]] of rows.entries()) {
    const shown = new Set([...titles(ownSections[i]!), ...leftOut])
    const missing = titles(right[i]!).filter((title) => !shown.has(title))
    assert.deepEqual(missing, [], `${object}\n${ownSections[i]}`)
  }
})

/** Returns the value with a null at the start of every list. */
function withNulls(value: unknown): unknown {
  if (Array.isArray(value)) return [null, ...value.map(withNulls)]
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withNulls(member)]))
}

/** Commands that rely on the types of objects. */
const typed: readonly string[] = [
  'auth can-i --list',
  'auth reconcile -f roles.yaml --dry-run=client',
  'cluster-info dump --namespaces=kube-system -o name',
  'rollout history statefulset/ss',
  'rollout history statefulset/ss --revision=1',
  'rollout status statefulset/ss --watch=false',
  'rollout undo statefulset/ss --dry-run=client',
  'set env pod/p --list',
  'set image rs/rs a=two --dry-run=client -o name',
  'expose pod/p --port=80 --dry-run=client -o yaml',
  'create job again --from=cronjob/cj --dry-run=client -o yaml',
  'tree statefulset/ss',
]

test('orchctl describe ignores null values in lists from the server', async (t) => {
  const client = server.client()
  const relay = createServer(async (request, response) => {
    const { url = '' } = request
    const { status, body } =
      request.method === 'POST' ? await client.post(url, JSON.parse(await textIn(request))) : await client.get(url)
    const isDiscovery = /^\/apis?(?:\/[^/]+){0,2}$/.test(url)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isDiscovery ? body : withNulls(body)))
  })
  t.after(() => relay.close())
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  const { port } = relay.address() as AddressInfo
  const { directory } = server
  writeFileSync(
    join(directory, 'roles.yaml'),
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: default}\nrules: [{apiGroups: [""], resources: [pods], verbs: [get]}]\n',
  )
  const ageless = (text: string) => text.replaceAll(/\b(?:\d+[smhd])+\b */g, '')
  for (const words of [['describe', ...names], ...typed.map((line) => line.split(' '))]) {
    const [there, here] = await Promise.all([
      orchctl([...words, `--server=http://127.0.0.1:${port}`], { env, directory }),
      orchctl(words, { env, directory }),
    ])
    assert.deepEqual({ ...there, stdout: ageless(there.stdout) }, { ...here, stdout: ageless(here.stdout) })
  }
})

test('every kind with its own describe output has a test here or in the command rows', () => {
  const manifest = readFileSync(join(import.meta.dirname, 'described.yaml'), 'utf8')
  const here = Array.from(manifest.matchAll(/^kind: (\w+)$/gm), ([, kind]) => kind!)
  const elsewhere = [
    'CertificateSigningRequest',
    'ConfigMap',
    'Secret',
    'Namespace',
    'Service',
    'Deployment',
    'ClusterRoleBinding',
  ]
  assert.deepEqual(describers.map(({ kind }) => kind).toSorted(), [...here, ...elsewhere].toSorted())
})

/** Returns the description of an object, with the values that differ between runs masked. */
async function description(object: string): Promise<string> {
  const { stdout } = await orchctl(['describe', object], { env })
  return stdout
    .replace(/^Events:\n[\s\S]*/m, (events) => events.replaceAll(/ +/g, ' '))
    .replaceAll(/(Pulled |\(0%\) {6})\w+/g, '$1AGE')
    .replace(/^(CreationTimestamp: +).*/m, '$1DATE')
}

test('orchctl describe pod shows containers with their state, volumes and events', async () => {
  assert.equal(await description('pod/p'), podText)
})

test('orchctl describe node shows pods and their resource requests', async () => {
  assert.equal(await description('node/n1'), nodeText)
})

test('orchctl describe ingress shows the endpoints of its backends', async () => {
  const { stdout } = await orchctl(['describe', 'ingress', 'ing'], { env })
  assert.match(stdout, /^ +\/x +web:http \(<service not found>\)$/m)
  const service = {
    metadata: { name: 'web' },
    spec: {
      ports: [
        { name: 'http', port: 80 },
        { name: 'b', port: 81 },
      ],
    },
  }
  const client = server.client()
  const subsets = [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ name: 'http', port: 8080 }] }]
  for (const [plural, body] of [
    ['services', service],
    ['endpoints', { metadata: { name: 'web' }, subsets }],
  ] as const)
    assert.equal((await client.post(`/api/v1/namespaces/default/${plural}`, body)).status, 201)
  const { stdout: then } = await orchctl(['describe', 'ingress', 'ing'], { env })
  assert.match(then, /^Default backend: +web:80 \(10\.9\.9\.9:8080\)$/m)
  assert.match(then, /^ +\/x +web:http \(10\.9\.9\.9:8080\)$/m)
})

const podText = `Name:             p
Namespace:        default
Priority:         0
Service Account:  default
Node:             n1/10.0.0.9
Start Time:       Thu, 01 Jan 2026 00:00:00 +0000
Labels:           app=web
                  tier=a
Annotations:      kubernetes.io/limit-ranger: LimitRanger plugin set: cpu request for init container init
                  note: hi
Status:           Running
IP:               10.1.0.5
IPs:
  IP:  10.1.0.5
Init Containers:
  init:
    Image:      busybox
    Port:       <none>
    Host Port:  <none>
    Command:
      sh
      -c
      echo hi
    Requests:
      cpu:        100m
    Environment:  <none>
    Mounts:       <none>
Containers:
  a:
    Container ID:  c
    Image:         nginx
    Image ID:      i
    Ports:         80/TCP, 443/TCP
    Host Ports:    0/TCP, 8443/TCP
    Args:
      one
      two
    State:          Running
      Started:      Thu, 01 Jan 2026 00:00:00 +0000
    Last State:     Terminated
      Reason:       Error
      Message:      boom
      Exit Code:    1
      Started:      Thu, 01 Jan 2026 00:00:00 +0000
      Finished:     Thu, 01 Jan 2026 00:00:05 +0000
    Ready:          True
    Restart Count:  2
    Limits:
      cpu:     500m
      memory:  64Mi
    Requests:
      cpu:      100m
      memory:   64Mi
    Liveness:   http-get http://:80/live delay=5s timeout=1s period=10s #success=1 #failure=3
    Readiness:  exec [cat /ready] delay=0s timeout=1s period=10s #success=1 #failure=3
    Startup:    tcp-socket :80 delay=0s timeout=1s period=10s #success=1 #failure=3
    Environment Variables from:
      cm  ConfigMap                Optional: false
      s   Secret with prefix 'P_'  Optional: false
    Environment:
      A:  1
      B:  <set to the key 'k' of config map 'cm'>  Optional: false
      C:  <set to the key 'k' in secret 's'>       Optional: true
      D:  p (v1:metadata.name)
      E:  1 (limits.cpu)
    Mounts:
      /d from d (rw,path="x")
      /s from s (ro)
      /v from v (rw)
Conditions:
  Type   Status
  ----   ------
  Ready  True
Volumes:
  v:
    Type:      ConfigMap
    Name:      cm
    Optional:  false
  s:
    Type:        Secret
    SecretName:  sec
    Optional:    false
  d:
    Type:       PersistentVolumeClaim
    ClaimName:  c
    ReadOnly:   false
  e:
    Type:       EmptyDir
    Medium:     
    SizeLimit:  <unset>
  h:
    Type:          HostPath
    Path:          /x
    HostPathType:  
  pr:
    Type:                    Projected
    TokenExpirationSeconds:  3600
    ConfigMapName:           cm
    ConfigMapOptional:       false
    DownwardAPI:             true
  nfs:
    Type:                     NFS
    Server:                   s
    Path:                     /p
    ReadOnly:                 false
QoS Class:                    <unset>
Node-Selectors:               disk=ssd
Tolerations:                  k:NoExecute op=Exists for 300s
                              op=Exists
Topology Spread Constraints:  host:DoNotSchedule when max skew 2 is exceeded
                              zone:ScheduleAnyway when max skew 1 is exceeded for selector app=web
Events:
 Type Reason Age From Message
 ---- ------ ---- ---- -------
 Normal Pulled AGE image is there
`

const nodeText = `Name:               n1
Roles:              worker
Labels:             node-role.kubernetes.io/worker=
                    zone=z
Annotations:        <none>
CreationTimestamp:  DATE
Taints:             k=v:NoSchedule
                    node.kubernetes.io/not-ready:NoSchedule
Unschedulable:      true
Conditions:
  Type   Status  LastHeartbeatTime                LastTransitionTime               Reason
  ----   ------  -----------------                ------------------               ------
  Ready  True    Thu, 01 Jan 2026 00:00:00 +0000  Thu, 01 Jan 2026 00:00:00 +0000  Up
Addresses:
  InternalIP:  10.0.0.9
Capacity:
  cpu:     4
  memory:  8Gi
  pods:    110
Allocatable:
  cpu:     3800m
  memory:  7Gi
  pods:    110
System Info:
  Machine ID:                 m
  System UUID:                u
  Boot ID:                    b
  Kernel Version:             6.1
  OS Image:                   Debian
  Operating System:           linux
  Architecture:               amd64
  Container Runtime Version:  c
  Kubelet Version:            v1
  Kube-Proxy Version:         v1
PodCIDR:                      10.1.0.0/24
PodCIDRs:                     10.1.0.0/24
ProviderID:                   x://1
Non-terminated Pods:          (1 in total)
  Namespace                   Name  CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------                   ----  ------------  ----------  ---------------  -------------  ---
  default                     p     100m (2%)     500m (13%)  64Mi (0%)        64Mi (0%)      AGE
Allocated resources:
  Resource           Requests   Limits
  --------           --------   ------
  cpu                100m (2%)  500m (13%)
  memory             64Mi (0%)  64Mi (0%)
  ephemeral-storage  0 (0%)     0 (0%)
Events:              <none>
`
