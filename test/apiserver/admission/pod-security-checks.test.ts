/**
 * Tests every check of the Pod Security Standards for each kind of container and each part of a pod. A compliant and a
 * violating pod are created at each level, under the rules of the first release, the release before the check was
 * introduced, the release that introduced it, and the latest release. All writes are dry runs.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { allChecks } from '../../../src/apiserver/admission/pod-security/checks/all.ts'
import { violationsOf } from '../../../src/apiserver/admission/pod-security/evaluate.ts'
import { levels } from '../../../src/apiserver/admission/pod-security/policy.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'

type Fields = { readonly [name: string]: unknown }

/** Compliant and violating fields of a container, the pod spec or the annotations. */
interface Row {
  readonly check: string
  readonly reason: string
  readonly since?: number
  /** Earlier releases enforce the same restriction with a different check. */
  readonly replaced?: boolean
  /** The server drops the field while its feature gate is off, so the check runs without the server. */
  readonly unserved?: boolean
  readonly container?: { readonly good: Fields; readonly bad: Fields }
  readonly pod?: { readonly good: Fields; readonly bad: Fields }
  readonly annotations?: { readonly good: Fields; readonly bad: Fields }
}

const context = (fields: Fields) => ({ securityContext: { ...safe, ...fields } })
const podContext = (fields: Fields) => ({ securityContext: fields })
const safe = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}
const without = (...names: (keyof typeof safe)[]) =>
  Object.fromEntries(Object.entries(safe).filter(([name]) => !names.includes(name as keyof typeof safe)))
const volumes = (source: Fields) => ({ volumes: [{ name: 'v', ...source }] })

const appArmor = 'container.apparmor.security.beta.orch.io/c'
const seccomp = 'container.seccomp.security.alpha.orch.io/c'

const rows: Row[] = [
  {
    check: 'hostProbesAndHostLifecycle',
    reason: 'probe or lifecycle host',
    since: 34,
    unserved: true,
    container: {
      good: { livenessProbe: { httpGet: { port: 1 } } },
      bad: { livenessProbe: { httpGet: { port: 1, host: 'x' } } },
    },
  },
  {
    check: 'appArmorProfile',
    reason: 'forbidden AppArmor profile',
    annotations: { good: { [appArmor]: 'runtime/default' }, bad: { [appArmor]: 'unconfined' } },
  },
  {
    check: 'capabilities_baseline',
    reason: 'non-default capabilities',
    container: {
      good: context({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }),
      bad: context({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } }),
    },
  },
  { check: 'hostNamespaces', reason: 'host namespaces', pod: { good: { hostPID: false }, bad: { hostPID: true } } },
  { check: 'hostNamespaces', reason: 'host namespaces', pod: { good: { hostIPC: false }, bad: { hostIPC: true } } },
  {
    check: 'hostNamespaces',
    reason: 'host namespaces',
    pod: { good: { hostNetwork: false }, bad: { hostNetwork: true } },
  },
  {
    check: 'hostPathVolumes',
    reason: 'hostPath volumes',
    pod: { good: volumes({ emptyDir: {} }), bad: volumes({ hostPath: { path: '/' } }) },
  },
  {
    check: 'hostPorts',
    reason: 'hostPort',
    container: { good: { ports: [{ containerPort: 1 }] }, bad: { ports: [{ containerPort: 1, hostPort: 1 }] } },
  },
  {
    check: 'privileged',
    reason: 'privileged',
    container: {
      good: context({ privileged: false }),
      bad: { securityContext: { ...without('allowPrivilegeEscalation'), privileged: true } },
    },
  },
  {
    check: 'procMount',
    reason: 'procMount',
    unserved: true,
    container: { good: context({ procMount: 'Default' }), bad: context({ procMount: 'Unmasked' }) },
  },
  ...(['user', 'role', 'type'] as const).map((field) => ({
    check: 'seLinuxOptions',
    reason: 'seLinuxOptions',
    container: {
      good: context({ seLinuxOptions: { type: 'container_init_t', level: 's0' } }),
      bad: context({ seLinuxOptions: { [field]: 'super_t' } }),
    },
    pod: {
      good: podContext({ seLinuxOptions: { type: 'container_kvm_t' } }),
      bad: podContext({ seLinuxOptions: { [field]: 'super_t' } }),
    },
  })),
  {
    check: 'seccompProfile_baseline',
    reason: 'seccompProfile',
    since: 19,
    replaced: true,
    container: {
      good: context({ seccompProfile: { type: 'Localhost', localhostProfile: 'x.json' } }),
      bad: context({ seccompProfile: { type: 'Unconfined' } }),
    },
    pod: {
      good: podContext({ seccompProfile: { type: 'Localhost', localhostProfile: 'x.json' } }),
      bad: podContext({ seccompProfile: { type: 'Unconfined' } }),
    },
  },
  {
    check: 'sysctls',
    reason: 'forbidden sysctls',
    pod: {
      good: podContext({ sysctls: [{ name: 'kernel.shm_rmid_forced', value: '0' }] }),
      bad: podContext({ sysctls: [{ name: 'kernel.msgmax', value: '0' }] }),
    },
  },
  {
    check: 'windowsHostProcess',
    reason: 'hostProcess',
    pod: {
      good: podContext({ windowsOptions: { hostProcess: false } }),
      bad: { hostNetwork: true, ...podContext({ windowsOptions: { hostProcess: true } }) },
    },
    container: {
      good: context({ windowsOptions: { hostProcess: false } }),
      bad: context({ windowsOptions: { hostProcess: true } }),
    },
  },
  {
    check: 'allowPrivilegeEscalation',
    reason: 'allowPrivilegeEscalation != false',
    since: 8,
    container: { good: context({}), bad: { securityContext: without('allowPrivilegeEscalation') } },
  },
  {
    check: 'capabilities_restricted',
    reason: 'unrestricted capabilities',
    since: 22,
    container: {
      good: context({ capabilities: { drop: ['ALL', 'CHOWN'], add: ['NET_BIND_SERVICE'] } }),
      bad: { securityContext: without('capabilities') },
    },
  },
  {
    check: 'capabilities_restricted',
    reason: 'unrestricted capabilities',
    since: 22,
    container: { good: context({}), bad: context({ capabilities: { drop: ['ALL'], add: ['CHOWN'] } }) },
  },
  ...[{ nfs: { server: 's', path: '/' } }, { gitRepo: { repository: 'r' } }].map((source) => ({
    check: 'restrictedVolumes',
    reason: 'restricted volume types',
    pod: { good: volumes({ persistentVolumeClaim: { claimName: 'x' } }), bad: volumes(source) },
  })),
  {
    check: 'runAsNonRoot',
    reason: 'runAsNonRoot != true',
    container: { good: context({}), bad: { securityContext: without('runAsNonRoot') } },
    pod: { good: podContext({ runAsNonRoot: true }), bad: podContext({ runAsNonRoot: false }) },
  },
  {
    check: 'runAsUser',
    reason: 'runAsUser=0',
    since: 23,
    container: { good: context({ runAsUser: 1 }), bad: context({ runAsUser: 0 }) },
    pod: { good: podContext({ runAsUser: 1000 }), bad: podContext({ runAsUser: 0 }) },
  },
  {
    check: 'seccompProfile_restricted',
    reason: 'seccompProfile',
    since: 19,
    container: { good: context({}), bad: { securityContext: without('seccompProfile') } },
  },
]

interface Place {
  readonly kind: (typeof kinds)[number] | 'spec'
  readonly good: Fields
  readonly bad: Fields
  readonly annotations?: { readonly good: Fields; readonly bad: Fields }
}

const kinds = ['containers', 'initContainers', 'ephemeralContainers'] as const
const container = { name: 'c', image: 'i', ...context({}) }
const extra = { name: 'e', image: 'i', ...context({}) }

/** Returns a pod with these fields in a container of this kind or in the pod itself. */
function podWith(kind: (typeof kinds)[number] | 'spec', fields: Fields, annotations: Fields = {}) {
  const spec: { [list: string]: unknown } = { containers: [container] }
  if (kind === 'spec') Object.assign(spec, fields)
  else if (kind === 'containers') spec.containers = [{ ...container, ...fields }]
  else spec[kind] = [{ ...extra, ...fields }]
  return { metadata: { name: 'p', annotations }, spec }
}

const levelOf = (id: string) => allChecks.find((check) => check.id === id)!.level
const strictness = (level: string) => levels.indexOf(level as (typeof levels)[number])
const releases = (since: number) => [...new Set([0, Math.max(since - 1, 0), since])].map((minor) => `v1.${minor}`)
const versionsOf = ({ since = 0, replaced }: Row) => [...(replaced ? [`v1.${since}`] : releases(since)), 'latest']
const reasonPattern = (reason: string) => new RegExp(`(?:": |, |^)${reason}s? \\(`)
const counts = ({ since = 0 }: Row, version: string) => version === 'latest' || Number(version.slice(3)) >= since

describe('Pod Security Standards checks', async () => {
  const server = await serve({ after }, ['--disable-admission-plugins=ServiceAccount'])
  const client = server.client()
  const prepared = new Map<string, Promise<string>>()
  let count = 0

  /** Returns the name of a namespace that enforces this level and version and contains a compliant pod. */
  const namespaceOf = (level: string, version: string): Promise<string> => {
    const name = `${level}-${version.replace('.', '-')}`
    if (!prepared.has(name)) prepared.set(name, prepare(client, name, { level, version }))
    return prepared.get(name)!
  }

  for (const row of rows) {
    const places: Place[] = [
      ...(row.container ? kinds.map((kind) => ({ kind, ...row.container! })) : []),
      ...(row.pod ? [{ kind: 'spec' as const, ...row.pod }] : []),
      ...(row.annotations ? [{ kind: 'spec' as const, annotations: row.annotations, good: {}, bad: {} }] : []),
    ]
    for (const { kind, good, bad, annotations = { good: {}, bad: {} } } of places)
      test(`${row.check}: ${kind} ${JSON.stringify({ ...bad, ...annotations.bad })}`, async () => {
        const look = async (level: string, version: string) => {
          const namespace = await namespaceOf(level, version)
          const ask = (fields: Fields, notes: Fields) =>
            admit(client, namespace, { kind, fields, notes, level, version, unserved: row.unserved })
          assert.equal(await ask(good, annotations.good), '', `${level} ${version} good`)
          const refused = await ask(bad, annotations.bad)
          const isLooked = strictness(levelOf(row.check)) <= strictness(level) && counts(row, version)
          if (isLooked) assert.match(refused, reasonPattern(row.reason), `${level} ${version} bad`)
          else assert.doesNotMatch(refused, reasonPattern(row.reason), `${level} ${version} bad`)
          count += 2
        }
        const strict = versionsOf(row).flatMap((version) => [look('baseline', version), look('restricted', version)])
        await Promise.all([look('privileged', 'latest'), ...strict])
      })
  }

  test('every check of the Pod Security Standards has a test case in this file', () => {
    assert.deepEqual([...new Set(rows.map(({ check }) => check))].sort(), allChecks.map(({ id }) => id).sort())
  })

  test('before Pod Security version 1.19, annotations determine the seccomp profile', async () => {
    const namespace = await namespaceOf('baseline', 'v1.18')
    for (const [key, profile, status] of [
      [seccomp, 'unconfined', 403],
      ['seccomp.security.alpha.orch.io/pod', 'unconfined', 403],
      [seccomp, 'localhost/x', 201],
      [seccomp, 'docker/default', 201],
    ] as const) {
      const pod = {
        metadata: { name: 'p', annotations: { [key]: profile } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }
      const answer = await client.post(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod)
      assert.equal(answer.status, status, answer.text)
      count++
    }
  })

  after(() => {
    console.log(`pod security: ${count} pods judged`)
    assert.ok(count >= 300, `${count} pods`)
  })
})

async function prepare(client: HttpClient, name: string, { level, version }: { level: string; version: string }) {
  const labels = { 'pod-security.orch.io/enforce': level, 'pod-security.orch.io/enforce-version': version }
  assert.equal((await client.post('/api/v1/namespaces', { metadata: { name, labels } })).status, 201)
  const made = await client.post(`/api/v1/namespaces/${name}/pods`, {
    metadata: { name: 'fine' },
    spec: { containers: [container] },
  })
  assert.equal(made.status, 201, made.text)
  return name
}

interface Asked {
  readonly kind: (typeof kinds)[number] | 'spec'
  readonly fields: Fields
  readonly notes: Fields
  readonly level: string
  readonly version: string
  readonly unserved: boolean | undefined
}

/** Returns '' if the pod is admitted, and otherwise the reason. Invalid pods are checked without the server. */
async function admit(client: HttpClient, namespace: string, asked: Asked): Promise<string> {
  const { kind, fields, notes } = asked
  const path = `/api/v1/namespaces/${namespace}/pods`
  const patch = { spec: { ephemeralContainers: [{ ...extra, ...fields }] } }
  const type = 'application/strategic-merge-patch+json'
  const answer =
    kind === 'ephemeralContainers'
      ? await client.send(`${path}/fine/ephemeralcontainers?dryRun=All`, {
          method: 'PATCH',
          headers: { 'content-type': type },
          body: patch,
        })
      : await client.post(`${path}?dryRun=All`, podWith(kind, fields, notes))
  if (asked.unserved || answer.status === 422) return judged(asked)
  assert.ok([200, 201, 403].includes(answer.status), answer.text)
  return answer.status === 403 ? answer.body.message : ''
}

/**
 * Pods with ports in ephemeral containers, or with both host-process containers and others, are already invalid, so
 * they are checked without the server.
 */
function judged({ kind, fields, notes, level, version }: Asked): string {
  const { spec } = podWith(kind, fields, notes) as { spec: object }
  const pod = { vendor: vendorOf('orch'), annotations: {}, spec }
  return violationsOf({ level: level as (typeof levels)[number], version }, pod)
    .map(({ reason, detail }) => `${reason} (${detail})`)
    .join(', ')
}
