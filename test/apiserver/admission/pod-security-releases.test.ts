/** Tests later releases of the Pod Security Standards: the settings that each release allows or forbids. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodSpec } from '../../../src/api/kinds/core/types/pod-spec.ts'
import { writeAmounts } from '../../../src/api/model/quota/amounts.ts'
import { podAmounts } from '../../../src/api/model/quota/counted-pod.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { violationsOf } from '../../../src/apiserver/admission/pod-security/evaluate.ts'

const vendor = vendorOf('orch')

function reasons(level: 'baseline' | 'restricted', version: string, spec: PodSpec, newestRelease = 36): string[] {
  return violationsOf({ level, version }, { vendor, newestRelease, annotations: {}, spec }).map(({ reason }) => reason)
}

test('different versions of the Pod Security Standards allow different settings', () => {
  const sysctl = (name: string): PodSpec => ({ securityContext: { sysctls: [{ name, value: '1' }] } })
  const main = { name: 'c', securityContext: { runAsUser: 0, procMount: 'Unmasked' } }
  const ownUsers: PodSpec = { hostUsers: false, containers: [main] }
  const seLinux: PodSpec = { securityContext: { seLinuxOptions: { type: 'container_engine_t' } } }
  assert.deepEqual(reasons('baseline', 'v1.28', sysctl('net.ipv4.tcp_fin_timeout')), ['forbidden sysctls'])
  assert.deepEqual(reasons('baseline', 'v1.29', sysctl('net.ipv4.tcp_fin_timeout')), [])
  assert.deepEqual(reasons('baseline', 'latest', sysctl('net.ipv4.tcp_rmem'), 31), ['forbidden sysctls'])
  assert.deepEqual(reasons('baseline', 'v1.30', seLinux), ['seLinuxOptions'])
  assert.deepEqual(reasons('baseline', 'v1.31', seLinux), [])
  assert.deepEqual(reasons('baseline', 'v1.34', ownUsers), ['procMount'])
  assert.deepEqual(reasons('baseline', 'v1.35', ownUsers), [])
  assert.equal(reasons('restricted', 'v1.34', ownUsers).includes('runAsUser=0'), true)
  assert.equal(reasons('restricted', 'v1.35', ownUsers).includes('runAsUser=0'), false)
})

test('since Pod Security version 1.25, Windows pods do not need Linux settings', () => {
  const windows: PodSpec = {
    os: { name: 'windows' },
    containers: [{ name: 'c', securityContext: { runAsNonRoot: true } }],
  }
  assert.equal(reasons('restricted', 'v1.24', windows).length, 3)
  assert.deepEqual(reasons('restricted', 'v1.25', windows), [])
})

test('PodSecurity checks AppArmor fields in the same way as AppArmor annotations', () => {
  const spec: PodSpec = { securityContext: { appArmorProfile: { type: 'Unconfined' } } }
  assert.deepEqual(reasons('baseline', 'latest', spec), ['forbidden AppArmor profile'])
})

test('quotas count the requests of sidecars and containers, or the pod-level requests if a pod specifies them', () => {
  const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } })
  const spec = {
    containers: [cpu('1')],
    initContainers: [{ ...cpu('2'), restartPolicy: 'Always' }, cpu('4')],
  }
  assert.deepEqual(writeAmounts(podAmounts({ spec }, 'requests')), { cpu: '6' })
  assert.deepEqual(writeAmounts(podAmounts({ spec: { ...spec, ...cpu('5') } }, 'requests')), { cpu: '5' })
})
