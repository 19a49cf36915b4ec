/** Tests PodSecurityPolicy: defaults and validation, overlapping sysctl patterns, and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { podSecurityPolicy as kind } from '../../../src/api/kinds/policy/pod-security-policy.ts'
import { checkOverlap } from '../../../src/api/kinds/policy/types/sysctl-patterns.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { assertCheap } from '../../support/effort.ts'
import { serve } from '../../support/in-process.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const any = { rule: 'RunAsAny' }
const least = { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any }

test('a PodSecurityPolicy allows privilege escalation by default, and unsupported fields are dropped', () => {
  const { object, faults } = create({ allowedProcMountTypes: ['Default'] })
  assert.deepEqual([faults, asJson(object).spec], [[], { ...least, allowPrivilegeEscalation: true }])
  const changed = updateBy(kind, object, objectOf({ allowedProcMountTypes: ['Default'] }))
  assert.deepEqual(changed.object.spec, object.spec)
})

test('validation errors for a PodSecurityPolicy contain the field path', () => {
  const rule = (name: string, value: JsonObject) => ({ [name]: value })
  const range = (min: number, max: number) => ({ rule: 'MustRunAs', ranges: [{ min, max }] })
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    [{ volumes: ['*', 'configMap', 'ephemeral'] }, []],
    [{ volumes: ['nothing'] }, ['NotSupported spec.volumes']],
    [rule('seLinux', { rule: 'MayRunAs' }), ['NotSupported spec.seLinux.rule']],
    [rule('runAsUser', { rule: 'MustRunAsNonRoot' }), []],
    [rule('runAsUser', { rule: 'MayRunAs' }), ['NotSupported spec.runAsUser.rule']],
    [rule('runAsUser', range(5, 1)), ['Invalid spec.runAsUser.ranges[0].min']],
    [rule('supplementalGroups', range(-1, 1)), ['Invalid spec.supplementalGroups.ranges[0].min']],
    [rule('fsGroup', range(-3, -2)), ['Invalid spec.fsGroup.ranges[0].max', 'Invalid spec.fsGroup.ranges[0].min']],
    [rule('fsGroup', {}), ['NotSupported spec.fsGroup.rule']],
    [rule('runAsGroup', { rule: 'MustRunAsNonRoot' }), ['NotSupported spec.runAsGroup.rule']],
    [rule('runAsGroup', { rule: 'MayRunAs' }), ['Invalid spec.runAsGroup.ranges']],
    [rule('runAsGroup', { ...range(1, 2), rule: 'RunAsAny' }), ['Invalid spec.runAsGroup.ranges']],
    [
      { defaultAddCapabilities: ['KILL'], allowedCapabilities: ['KILL'], requiredDropCapabilities: ['KILL'] },
      ['Invalid allowedCapabilities', 'Invalid defaultAddCapabilities'],
    ],
    [{ allowedCapabilities: ['*'], requiredDropCapabilities: ['KILL'] }, ['Invalid requiredDropCapabilities']],
    [{ defaultAddCapabilities: ['KILL'], requiredDropCapabilities: ['ALL'] }, []],
    [
      { defaultAllowPrivilegeEscalation: true, allowPrivilegeEscalation: false },
      ['Invalid spec.defaultAllowPrivilegeEscalation'],
    ],
    [{ hostPorts: [{ min: 9, max: -8 }] }, []],
    [
      { allowedHostPaths: [{ pathPrefix: '/a..b' }, { pathPrefix: '/a/../b' }, {}, { pathPrefix: '..' }] },
      ['Invalid spec.allowedHostPaths[1]', 'Required spec.allowedHostPaths[2]'],
    ],
    [{ allowedFlexVolumes: [{ driver: 'd' }, {}] }, ['Required spec.allowedFlexVolumes[1].driver']],
    [
      { allowedCSIDrivers: [{ name: 'A.b' }, { name: 'a/b' }] },
      ['Invalid spec.allowedCSIDrivers.allowedCSIDriver[1].name'],
    ],
    [{ allowedUnsafeSysctls: ['kernel.msg*', 'net.x', ''] }, ['Invalid spec.allowedUnsafeSysctls[2]']],
    [{ forbiddenSysctls: ['*', 'a'] }, ['Forbidden spec.forbiddenSysctls.items']],
    [
      { forbiddenSysctls: ['A', 'a.*b', `${'a'.repeat(254)}`] },
      [0, 1, 2].map((i) => `Invalid spec.forbiddenSysctls[${i}]`),
    ],
    [{ runtimeClass: { allowedRuntimeClassNames: ['*'], defaultRuntimeClassName: 'x' } }, []],
    [
      { runtimeClass: { allowedRuntimeClassNames: ['*', 'a', 'a', 'B'], defaultRuntimeClassName: 'C' } },
      [
        'Duplicate spec.runtimeClass.allowedRuntimeClassNames[2]',
        'Invalid spec.runtimeClass.allowedRuntimeClassNames',
        'Invalid spec.runtimeClass.allowedRuntimeClassNames[3]',
        'Invalid spec.runtimeClass.defaultRuntimeClassName',
      ],
    ],
    [{ runtimeClass: { defaultRuntimeClassName: 'x' } }, ['Required spec.runtimeClass.allowedRuntimeClassNames']],
  ]
  for (const [spec, faults] of cases) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
})

test('a PodSecurityPolicy must not both allow and forbid a sysctl', async () => {
  const cases: readonly (readonly [allowed: string[], banned: string[], faults: readonly string[]])[] = [
    [['a.b'], ['a.c', 'a.b.c'], []],
    [['a.b'], ['a.b'], ['a[0]']],
    [['a.b'], ['a.*'], ['a[0]']],
    [['a.*'], ['a.b'], ['b[0]']],
    [['a.*'], ['a.b*'], ['b[0]']],
    [['a.*'], ['a.*', '*'], ['a[0]']],
    [['*'], ['*', 'a*'], ['a[0]', 'b[1]']],
    [['a.b*'], ['a.*'], ['a[0]']],
    [['a.x*'], ['a.b*', 'c*'], []],
    [['*'], ['x'], ['b[0]']],
  ]
  for (const [allowed, banned, faults] of cases)
    assert.deepEqual(
      checkOverlap(allowed, banned, { allowed: 'a', banned: 'b' }).map(({ path }) => path),
      faults,
      `${allowed} and ${banned}`,
    )
  const many = (end: string) => Array.from({ length: 20_000 }, (_, i) => `${'x'.repeat(100)}${i}${end}`)
  await assertCheap(10_000, () => checkOverlap(many('a*'), many('b*'), { allowed: 'a', banned: 'b' }))
})

test('a PodSecurityPolicy with invalid seccomp or AppArmor profiles in annotations is rejected', () => {
  const faultsOf = (annotations: JsonObject) =>
    createBy(kind, { ...objectOf({}), metadata: { name: 'p', annotations } }).faults
  const appArmor = 'apparmor.security.beta.orch.io'
  const seccomp = 'seccomp.security.alpha.orch.io'
  assert.deepEqual(
    faultsOf({
      [`${appArmor}/allowedProfileNames`]: 'runtime/default,localhost/x',
      [`${seccomp}/allowedProfileNames`]: '*,docker/default',
    }),
    [],
  )
  for (const key of [
    `${appArmor}/defaultProfileName`,
    `${seccomp}/defaultProfileName`,
    `${seccomp}/allowedProfileNames`,
  ])
    assert.deepEqual(faultsOf({ [key]: 'odd' }), [`Invalid metadata.annotations[${key}]`])
})

test('the PodSecurityPolicy table shows the allowed settings', () => {
  const { object } = create({
    privileged: true,
    allowedCapabilities: ['A', 'B'],
    volumes: ['csi'],
    readOnlyRootFilesystem: true,
  })
  assert.deepEqual(cellsOf(kind, object), [
    'p',
    'true',
    'A,B',
    'RunAsAny',
    'RunAsAny',
    'RunAsAny',
    'RunAsAny',
    true,
    'csi',
  ])
  assert.deepEqual(cellsOf(kind, create({}).object).slice(1, 3), ['false', ''])
})

test('requests for PodSecurityPolicies return a deprecation warning, and a delete returns the object', async (t) => {
  const client = (await serve(t)).client()
  const path = '/apis/policy/v1beta1/podsecuritypolicies'
  const made = await client.post(path, objectOf({}))
  assert.equal(
    made.headers.warning,
    '299 - "policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+"',
  )
  assert.equal((await client.get('/apis/policy/v1/podsecuritypolicies')).status, 404)
  assert.equal((await client.delete(`${path}/p`)).body.kind, 'PodSecurityPolicy')
})

function create(spec: JsonObject) {
  return createBy(kind, objectOf(spec))
}

function objectOf(spec: JsonObject): JsonObject {
  return {
    apiVersion: 'policy/v1beta1',
    kind: 'PodSecurityPolicy',
    metadata: { name: 'p' },
    spec: { ...least, ...spec },
  }
}
