/**
 * Tests the admission of very large pods. The work of the plugins must grow linearly with the size of the pod, and
 * messages must stay short. The tests measure CPU time, with limits that only quadratic work would exceed.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../../src/api/kinds/core/types/pod-spec.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { AdmissionRequest, Control } from '../../../src/apiserver/admission/admission.ts'
import { alwaysPullImages } from '../../../src/apiserver/admission/controls/always-pull-images.ts'
import { extendedResourceToleration } from '../../../src/apiserver/admission/controls/extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from '../../../src/apiserver/admission/controls/limit-pod-hard-anti-affinity-topology.ts'
import { securityContextDeny } from '../../../src/apiserver/admission/controls/security-context-deny.ts'
import { detailsOf, violationsOf } from '../../../src/apiserver/admission/pod-security/evaluate.ts'
import { policyIn } from '../../../src/apiserver/admission/pod-security-policy/effective-settings.ts'
import { filled } from '../../../src/apiserver/admission/pod-security-policy/fill.ts'
import { faultsOf } from '../../../src/apiserver/admission/pod-security-policy/judge.ts'
import { assertCheap } from '../../support/effort.ts'

const vendor = vendorOf('orch')
const count = 20_000
const many = <T>(make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

const spec = {
  containers: many((i) => ({
    name: `c${i}`,
    image: `i${i}`,
    securityContext: { privileged: true, procMount: `p${i}`, capabilities: { add: [`A${i}`], drop: [`D${i}`] } },
    ports: [{ containerPort: 1, hostPort: i + 1 }],
    resources: { requests: { [`example.com/r${i}`]: '1' } },
    volumeMounts: [{ name: `v${i}`, mountPath: '/m' }],
  })),
  volumes: many((i) => ({ name: `v${i}`, hostPath: { path: `/a/${i}` } })),
  tolerations: many((i) => ({ key: `k${i}`, operator: 'Exists' })),
  securityContext: { sysctls: many((i) => ({ name: `s${i}`, value: '1' })), supplementalGroups: many((i) => i) },
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: many(() => ({
        labelSelector: {},
        topologyKey: 'orch.io/hostname',
      })),
    },
  },
} as unknown as PodSpec
const annotations = Object.fromEntries(many((i) => [`container.apparmor.security.beta.orch.io/c${i}`, 'unconfined']))

const maxMs = 2000

describe(`admission of a pod with ${count} containers, volumes and other elements`, () => {
  test('PodSecurity returns a short message for a pod with thousands of violations', async () => {
    let message = ''
    const pod = { vendor, annotations, spec }
    await assertCheap(maxMs, () => {
      message = detailsOf(violationsOf({ level: 'restricted', version: 'latest' }, pod))
    })
    assert.match(message, /and 19980 more/)
    assert.ok(message.length < 20_000, `${message.length} characters`)
  })

  test('PodSecurityPolicy can apply defaults to a very large pod and validate it', async () => {
    const any = { rule: 'RunAsAny' }
    const policy = policyIn(
      {
        apiVersion: 'policy/v1beta1',
        kind: 'PodSecurityPolicy',
        metadata: { name: 'p', annotations: { 'seccomp.security.alpha.orch.io/allowedProfileNames': 'x,y' } },
        spec: {
          seLinux: any,
          runAsUser: any,
          supplementalGroups: any,
          fsGroup: any,
          volumes: ['*'],
          allowedHostPaths: [{ pathPrefix: '/a', readOnly: true }],
          requiredDropCapabilities: ['KILL'],
        },
      } as unknown as ApiObject,
      vendor,
    )
    let faults = 0
    await assertCheap(maxMs, () => {
      faults = faultsOf(policy, filled(policy, { annotations, spec })).length
    })
    assert.ok(faults > count)
  })

  for (const control of [
    alwaysPullImages(),
    securityContextDeny(),
    extendedResourceToleration({ vendor }),
    limitPodHardAntiAffinityTopology({ vendor }),
  ] as Control[])
    test(control.name, async () => {
      const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec } as unknown as ApiObject
      const type = { group: '', version: 'v1', kind: 'Pod', plural: 'pods' }
      const request = { operation: 'CREATE', vendor, type, name: 'p', object } as unknown as AdmissionRequest
      await assertCheap(maxMs, () => {
        control.mutate?.(request, request)
        try {
          control.validate?.(request)
        } catch (refusal) {
          assert.ok((refusal as Error).message.length < 1000)
        }
      })
    })
})
