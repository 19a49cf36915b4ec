/**
 * Tests PodSecurityPolicy: rejections and defaults for each field, permission to use policies, and policy selection.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

type Fields = { readonly [name: string]: unknown }

const any = { rule: 'RunAsAny' }
const open = { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any, volumes: ['*'] }
const container = { name: 'c', image: 'i' }
const within = (securityContext: Fields): Fields => ({ containers: [{ ...container, securityContext }] })
const pod = (securityContext: Fields): Fields => ({ securityContext })
const volume = (source: Fields, readOnly?: boolean): Fields => ({
  volumes: [{ name: 'v', ...source }],
  ...(readOnly === undefined
    ? {}
    : { containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v', readOnly }] }] }),
})
const range = (min: number, max: number) => ({ ranges: [{ min, max }] })
const hostPath = (path: string) => ({ hostPath: { path } })
const token = (...sources: Fields[]) => ({
  projected: { sources: [{ serviceAccountToken: { path: 't' } }, ...sources] },
})
const sysctl = (name: string) => pod({ sysctls: [{ name, value: '1' }] })
const seccomp = 'seccomp.security.alpha.orch.io'
const appArmor = 'apparmor.security.beta.orch.io'

interface Row {
  readonly policy: Fields
  readonly annotations?: { readonly [key: string]: string }
  readonly good: readonly Fields[]
  /** The field path in the error, and the fields that violate the policy. */
  readonly bad: readonly (readonly [string, Fields])[]
}

const rows: { readonly [what: string]: Row } = {
  privileged: {
    policy: { privileged: false },
    good: [within({ privileged: false })],
    bad: [['spec.containers[0].securityContext.privileged', within({ privileged: true })]],
  },
  'privileged, allowed': { policy: { privileged: true }, good: [within({ privileged: true })], bad: [] },
  'host namespaces': {
    policy: { hostPID: true },
    good: [{ hostPID: true }],
    bad: [
      ['spec.securityContext.hostNetwork', { hostNetwork: true }],
      ['spec.securityContext.hostIPC', { hostIPC: true }],
    ],
  },
  'host ports': {
    policy: { hostPorts: [{ min: 80, max: 90 }] },
    good: [{ containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 90 }] }] }],
    bad: [
      ['spec.containers[0].hostPort', { containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 91 }] }] }],
    ],
  },
  capabilities: {
    policy: { allowedCapabilities: ['SYS_TIME'], requiredDropCapabilities: ['KILL'] },
    good: [within({ capabilities: { add: ['SYS_TIME'], drop: ['KILL'] } }), {}],
    bad: [['spec.containers[0].securityContext.capabilities.add', within({ capabilities: { add: ['CHOWN'] } })]],
  },
  'all capabilities': {
    policy: { allowedCapabilities: ['*'] },
    good: [within({ capabilities: { add: ['CHOWN', 'SYS_ADMIN'] } })],
    bad: [],
  },
  'kinds of volumes': {
    policy: { volumes: ['emptyDir', 'secret', 'cephFS'] },
    good: [volume({ emptyDir: {} }), volume(token()), volume({ cephfs: { monitors: ['m'] } })],
    bad: [
      ['spec.volumes[0]', volume({ configMap: { name: 'x' } })],
      ['spec.volumes[0]', volume(token({ secret: { name: 's' } }))],
    ],
  },
  'host paths': {
    policy: { allowedHostPaths: [{ pathPrefix: '/a' }, { pathPrefix: '/b/', readOnly: true }] },
    good: [volume(hostPath('/a')), volume(hostPath('/a/x'), false), volume(hostPath('/b/x'), true)],
    bad: [
      ['spec.volumes[0].hostPath.pathPrefix', volume(hostPath('/ab'))],
      ['spec.volumes[0].hostPath.pathPrefix', volume(hostPath('/'))],
      ['spec.containers[0].volumeMounts[0].readOnly', volume(hostPath('/b'), false)],
    ],
  },
  drivers: {
    policy: { allowedFlexVolumes: [{ driver: 'a/b' }], allowedCSIDrivers: [{ name: 'good.example' }] },
    good: [volume({ flexVolume: { driver: 'a/b' } }), volume({ csi: { driver: 'good.example' } })],
    bad: [
      ['spec.volumes[0].driver', volume({ flexVolume: { driver: 'x/y' } })],
      ['spec.volumes[0].csi.driver', volume({ csi: { driver: 'bad.example' } })],
    ],
  },
  SELinux: {
    policy: { seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0:c2,c1', type: 't' } } },
    good: [{}, pod({ seLinuxOptions: { level: 's0:c1,c2', type: 't' } })],
    bad: [
      ['spec.securityContext.seLinuxOptions.type', pod({ seLinuxOptions: { level: 's0:c1,c2', type: 'u' } })],
      [
        'spec.containers[0].securityContext.seLinuxOptions.user',
        within({ seLinuxOptions: { level: 's0:c1,c2', type: 't', user: 'u' } }),
      ],
    ],
  },
  'users in a range': {
    policy: { runAsUser: { rule: 'MustRunAs', ...range(5, 6) } },
    good: [{}, within({ runAsUser: 6 }), pod({ runAsUser: 5 })],
    bad: [
      ['spec.containers[0].securityContext.runAsUser', within({ runAsUser: 7 })],
      ['spec.containers[0].securityContext.runAsUser', pod({ runAsUser: 4 })],
    ],
  },
  'no root user': {
    policy: { runAsUser: { rule: 'MustRunAsNonRoot' } },
    good: [{}, within({ runAsUser: 1 }), pod({ runAsNonRoot: true })],
    bad: [
      ['spec.containers[0].securityContext.runAsUser', within({ runAsUser: 0 })],
      ['spec.containers[0].securityContext.runAsNonRoot', within({ runAsNonRoot: false })],
    ],
  },
  'groups with MustRunAs': {
    policy: {
      runAsGroup: { rule: 'MustRunAs', ...range(5, 6) },
      supplementalGroups: { rule: 'MustRunAs', ...range(7, 8) },
    },
    good: [{}, pod({ runAsGroup: 6, supplementalGroups: [7, 8] })],
    bad: [
      ['spec.containers[0].securityContext.runAsGroup', within({ runAsGroup: 7 })],
      ['spec.securityContext.supplementalGroups', pod({ supplementalGroups: [7, 9] })],
      ['spec.securityContext.supplementalGroups', pod({ supplementalGroups: [] })],
    ],
  },
  'groups with MayRunAs': {
    policy: {
      runAsGroup: { rule: 'MayRunAs', ...range(5, 6) },
      supplementalGroups: { rule: 'MayRunAs', ...range(7, 8) },
      fsGroup: { rule: 'MayRunAs', ...range(1, 1) },
    },
    good: [{}, pod({ runAsGroup: 6, supplementalGroups: [7], fsGroup: 1 }), pod({ supplementalGroups: [] })],
    bad: [
      ['spec.containers[0].securityContext.runAsGroup', pod({ runAsGroup: 7 })],
      ['spec.securityContext.supplementalGroups', pod({ supplementalGroups: [6] })],
      ['spec.securityContext.fsGroup', pod({ fsGroup: 2 })],
    ],
  },
  'read-only roots': {
    policy: { readOnlyRootFilesystem: true },
    good: [{}, within({ readOnlyRootFilesystem: true })],
    bad: [['spec.containers[0].securityContext.readOnlyRootFilesystem', within({ readOnlyRootFilesystem: false })]],
  },
  escalation: {
    policy: { allowPrivilegeEscalation: false, privileged: true },
    good: [{}, within({ allowPrivilegeEscalation: false })],
    bad: [['spec.containers[0].securityContext.allowPrivilegeEscalation', within({ allowPrivilegeEscalation: true })]],
  },
  sysctls: {
    policy: { allowedUnsafeSysctls: ['kernel.msg*'], forbiddenSysctls: ['net.ipv4.tcp_syncookies'] },
    good: [sysctl('kernel.msgmax'), sysctl('kernel.shm_rmid_forced')],
    bad: [
      ['spec.securityContext.sysctls[0]', sysctl('kernel.sem')],
      ['spec.securityContext.sysctls[0]', sysctl('net.ipv4.tcp_syncookies')],
    ],
  },
  'profiles of seccomp': {
    policy: {},
    annotations: { [`${seccomp}/allowedProfileNames`]: 'docker/default,localhost/x' },
    good: [
      pod({ seccompProfile: { type: 'RuntimeDefault' } }),
      within({ seccompProfile: { type: 'Localhost', localhostProfile: 'x' } }),
    ].map((fields) => ({ ...pod({ seccompProfile: { type: 'RuntimeDefault' } }), ...fields })),
    bad: [
      [`metadata.annotations[${seccomp}/pod]`, pod({ seccompProfile: { type: 'Unconfined' } })],
      [
        `metadata.annotations[container.${seccomp}/c]`,
        {
          ...pod({ seccompProfile: { type: 'RuntimeDefault' } }),
          ...within({ seccompProfile: { type: 'Unconfined' } }),
        },
      ],
    ],
  },
  'no seccomp profiles': {
    policy: {},
    good: [{}],
    bad: [[`metadata.annotations[${seccomp}/pod]`, pod({ seccompProfile: { type: 'RuntimeDefault' } })]],
  },
  'profiles of AppArmor': {
    policy: {},
    annotations: { [`${appArmor}/allowedProfileNames`]: 'localhost/x' },
    good: [],
    bad: [[`metadata.annotations[container.${appArmor}/c]`, {}]],
  },
}

describe('PodSecurityPolicy rules', async () => {
  const server = await serve({ after }, [
    '--enable-admission-plugins=PodSecurityPolicy',
    '--disable-admission-plugins=ServiceAccount',
  ])
  const client = server.client()
  const path = '/apis/policy/v1beta1/podsecuritypolicies'
  const policy = (spec: Fields, annotations: Fields = {}, name = 'p') => ({
    apiVersion: 'policy/v1beta1',
    kind: 'PodSecurityPolicy',
    metadata: { name, annotations },
    spec: { ...open, ...spec },
  })
  const create = (spec: Fields, query = '?dryRun=All') =>
    client.post(`/api/v1/namespaces/default/pods${query}`, {
      metadata: { name: 'p' },
      spec: { serviceAccountName: 'default', containers: [container], ...spec },
    })
  const use = async (spec: Fields, annotations: Fields = {}) => {
    const answer = await client.put(`${path}/p`, policy(spec, annotations))
    assert.equal(answer.status, 200, answer.text)
  }

  test('PodSecurityPolicy rejects every pod if no policy exists', async () => {
    const refused = await create({})
    assert.deepEqual([refused.status, refused.body.reason], [403, 'Forbidden'])
    assert.match(refused.body.message, /PodSecurityPolicy: unable to admit pod: no policy/)
    assert.equal((await client.post(path, policy({}))).status, 201)
    assert.deepEqual((await create({})).body.metadata.annotations, { 'orch.io/psp': 'p' })
  })

  for (const [what, { policy: spec, annotations, good, bad }] of Object.entries(rows))
    test(`${what}`, async () => {
      await use(spec, annotations)
      for (const fields of good) {
        const answer = await create(fields)
        assert.equal(answer.status, 201, `${JSON.stringify(fields)}: ${answer.text}`)
      }
      for (const [place, fields] of bad) {
        const refused = await create(fields)
        assert.equal(refused.status, 403, JSON.stringify(fields))
        assert.ok(refused.body.message.includes(`${place}: `), refused.body.message)
      }
    })

  for (const list of ['initContainers', 'ephemeralContainers'])
    test(`PodSecurityPolicy checks ${list} against the policy`, async () => {
      await use({})
      const extra = [{ name: 'x', image: 'i', securityContext: { privileged: true } }]
      if (list === 'initContainers') {
        const refused = await create({ initContainers: extra })
        assert.ok(refused.body.message.includes('spec.initContainers[0].securityContext.privileged: '))
        return
      }
      assert.equal((await create({}, '')).status, 201)
      const refused = await client.send('/api/v1/namespaces/default/pods/p/ephemeralcontainers', {
        method: 'PATCH',
        headers: { 'content-type': 'application/strategic-merge-patch+json' },
        body: { spec: { ephemeralContainers: extra } },
      })
      assert.equal(refused.status, 403)
      assert.ok(refused.body.message.includes('spec.ephemeralContainers[0].securityContext.privileged: '))
      await client.delete('/api/v1/namespaces/default/pods/p')
    })

  test('a PodSecurityPolicy sets defaults for unset fields and keeps the other fields', async () => {
    await client.post('/apis/node.orch.io/v1/runtimeclasses', { metadata: { name: 'slow' }, handler: 'h' })
    await use(
      {
        runAsUser: { rule: 'MustRunAs', ...range(5, 6) },
        runAsGroup: { rule: 'MustRunAs', ...range(7, 8) },
        supplementalGroups: { rule: 'MustRunAs', ...range(9, 9) },
        fsGroup: { rule: 'MustRunAs', ...range(10, 11) },
        seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0' } },
        defaultAddCapabilities: ['CHOWN'],
        requiredDropCapabilities: ['KILL'],
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        runtimeClass: { allowedRuntimeClassNames: ['slow'], defaultRuntimeClassName: 'slow' },
      },
      {
        [`${seccomp}/allowedProfileNames`]: '*',
        [`${seccomp}/defaultProfileName`]: 'runtime/default',
        [`${appArmor}/allowedProfileNames`]: 'localhost/x',
        [`${appArmor}/defaultProfileName`]: 'localhost/x',
      },
    )
    const { status, body } = await create({})
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(body.spec.containers[0].securityContext, {
      runAsUser: 5,
      runAsGroup: 7,
      capabilities: { add: ['CHOWN'], drop: ['KILL'] },
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    })
    assert.deepEqual(body.spec.securityContext, {
      supplementalGroups: [9],
      fsGroup: 10,
      seLinuxOptions: { level: 's0' },
      seccompProfile: { type: 'RuntimeDefault' },
    })
    assert.equal(body.spec.runtimeClassName, 'slow')
    assert.deepEqual(body.metadata.annotations, {
      'orch.io/psp': 'p',
      [`${seccomp}/pod`]: 'runtime/default',
      [`container.${appArmor}/c`]: 'localhost/x',
    })
    const own = await create(within({ runAsUser: 6, capabilities: { drop: ['CHOWN', 'KILL'] } }))
    const { runAsUser, capabilities } = own.body.spec.containers[0].securityContext
    assert.deepEqual([runAsUser, capabilities], [6, { drop: ['CHOWN', 'KILL'] }])
    await use({ runAsUser: { rule: 'MustRunAsNonRoot' }, defaultAllowPrivilegeEscalation: false })
    assert.deepEqual((await create({})).body.spec.containers[0].securityContext, {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
    })
    // The defaults of the policy contradict the pod's own fields. The pod is rejected, so that its author can resolve
    // the contradiction.
    const capability = ['CAP_SYS_ADMIN']
    const torn: readonly (readonly [policy: Fields, own: Fields])[] = [
      [{ privileged: true, defaultAllowPrivilegeEscalation: false }, { privileged: true }],
      [{ privileged: true, allowPrivilegeEscalation: false }, { privileged: true }],
      [{ allowedCapabilities: capability, allowPrivilegeEscalation: false }, { capabilities: { add: capability } }],
    ]
    for (const [spec, own] of torn) {
      await use(spec)
      const { status, body } = await create(within(own))
      assert.deepEqual([status, body.reason], [422, 'Invalid'], JSON.stringify(own))
      assert.equal(body.details.causes[0].field, 'spec.containers[0].securityContext')
    }
    const foreign = await use({ runtimeClass: { allowedRuntimeClassNames: [] } }).then(() =>
      create({ runtimeClassName: 'slow' }),
    )
    assert.ok(foreign.body.message.includes('spec.runtimeClassName: '), foreign.body.message)
  })

  test('PodSecurityPolicy prefers a policy that changes nothing, otherwise uses the first policy by name, and only validates updated pods', async () => {
    await use({ runAsUser: { rule: 'MustRunAs', ...range(3, 4) } })
    await client.post(path, policy({ runAsUser: { rule: 'MustRunAs', ...range(1, 2) } }, {}, 'a'))
    const chosen = async (spec: Fields) => (await create(spec)).body.metadata.annotations['orch.io/psp']
    assert.deepEqual([await chosen({}), await chosen(within({ runAsUser: 3 }))], ['a', 'p'])
    await client.post(path, policy({ privileged: true }, {}, 'z'))
    assert.equal(await chosen({}), 'z')
    assert.equal((await create(within({ privileged: true }), '')).status, 201)
    await client.delete(`${path}/z`)
    const patch = async (metadata: Fields) => {
      const headers = { 'content-type': 'application/merge-patch+json' }
      return await client.send('/api/v1/namespaces/default/pods/p', { method: 'PATCH', headers, body: { metadata } })
    }
    const refused = await patch({ labels: { a: 'b' } })
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /PodSecurityPolicy: unable to validate pod: /)
    assert.equal((await patch({ finalizers: ['example.com/f'] })).status, 200)
    assert.equal((await patch({ finalizers: null })).status, 200)
  })
})

describe('authorization to use a policy', async () => {
  const server = await serve({ after }, ['--enable-admission-plugins=PodSecurityPolicy'])
  const admin = server.client()
  const alice = server.client('alice-token')
  const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'
  const grant = async (name: string, rule: Fields, subject: Fields) => {
    await admin.post(`${rbac}/roles`, { metadata: { name }, rules: [rule] })
    const made = await admin.post(`${rbac}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name },
      subjects: [subject],
    })
    assert.equal(made.status, 201, made.text)
  }
  const user = { apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'alice' }
  const using = { apiGroups: ['policy'], resources: ['podsecuritypolicies'], resourceNames: ['p'], verbs: ['use'] }
  await grant('pods', { apiGroups: [''], resources: ['pods'], verbs: ['create'] }, user)
  for (const name of ['default', 'robot'])
    await admin.post('/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name },
      automountServiceAccountToken: false,
    })
  await admin.post('/apis/policy/v1beta1/podsecuritypolicies', { metadata: { name: 'p' }, spec: open })
  const create = async (spec: Fields = {}) =>
    await alice.post('/api/v1/namespaces/default/pods?dryRun=All', {
      metadata: { name: 'p' },
      spec: { containers: [container], ...spec },
    })

  test('either the service account or the creator of a pod must have permission to use the policy, and errors disclose no other policies', async () => {
    const refused = await create(within({ privileged: true }))
    assert.equal(refused.status, 403)
    assert.doesNotMatch(refused.body.message, /privileged/i)
    await grant('robots', using, { kind: 'ServiceAccount', name: 'robot', namespace: 'default' })
    assert.deepEqual([(await create()).status, (await create({ serviceAccountName: 'robot' })).status], [403, 201])
    await grant('authors', using, user)
    assert.equal((await create()).status, 201)
    assert.match((await create(within({ privileged: true }))).body.message, /securityContext\.privileged/)
  })
})
