/**
 * ServiceAccount: every pod runs as an account of its namespace, `default` where it names none. With the account come
 * its secrets for pulling images and, unless pod or account say no, a volume with a token that every container finds at
 * the same place. Copies of pods that a node runs by itself (mirror pods) have no account, and no secrets either.
 *
 * The default account of a new namespace is made by a control loop, so it is waited for a little.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pod } from '../../kinds/core/pod.ts'
import type { ServiceAccount } from '../../kinds/core/service-account.ts'
import { secretsOf } from '../../kinds/core/types/pod-secrets.ts'
import type { Found, Lookup } from '../../model/lookup.ts'
import type { ApiObject } from '../../model/object.ts'
import { defaultAccount } from '../../model/service-account.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'
import { mountToken } from '../token-volume.ts'

const accounts = { group: 'core', plural: 'serviceaccounts' }

export function serviceAccount({ vendor, lookup }: { readonly vendor: Vendor; readonly lookup: Lookup }): Control {
  const mirror = vendorKey(vendor, 'config.mirror')
  return {
    name: 'ServiceAccount',
    handles: { operations: ['CREATE'], types: [{ group: 'core', plural: 'pods' }], subresources: [''] },
    mutate: (request) => {
      if (request.object!.metadata.annotations?.[mirror] !== undefined) return checkMirror(request)
      const found = findAccount(lookup, request)
      return found instanceof Promise ? found.then((later) => useAccount(request, later)) : useAccount(request, found)
    },
  }
}

type PodSpec = NonNullable<Pod['spec']>

function specOf({ object }: AdmissionRequest): PodSpec {
  return (object as Pod & ApiObject).spec ?? {}
}

function checkMirror(request: AdmissionRequest): undefined {
  const spec = specOf(request)
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
  if (spec.serviceAccountName) throw refusal(request, 'a mirror pod may not reference service accounts')
  if (secretsOf(spec).length > 0) throw refusal(request, 'a mirror pod may not reference secrets')
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined))
    throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections')
}

function findAccount(lookup: Lookup, request: AdmissionRequest): Found | Promise<Found | undefined> {
  const place = { namespace: request.namespace, name: nameOf(request) }
  return lookup.known(accounts, place) ?? awaitAccount(lookup, place)
}

function nameOf(request: AdmissionRequest): string {
  return specOf(request).serviceAccountName || defaultAccount
}

const attempts = 10
const pauseMs = 150

async function awaitAccount(lookup: Lookup, place: { namespace: string; name: string }): Promise<Found | undefined> {
  const patience = place.name === defaultAccount ? attempts : 1
  for (let attempt = 1; ; attempt++) {
    const found = await lookup.recent(accounts, place)
    if (found !== undefined || attempt === patience) return found
    await sleep(pauseMs)
  }
}

function useAccount(request: AdmissionRequest, found: Found | undefined): ApiObject {
  const name = nameOf(request)
  if (found === undefined)
    throw refusal(
      request,
      `error looking up service account ${request.namespace}/${name}: serviceaccount "${name}" not found`,
    )
  request.restOn?.(found)
  const account = found.object as ServiceAccount & ApiObject
  const { imagePullSecrets = [] } = account
  const spec: PodSpec = { ...specOf(request), serviceAccountName: name, serviceAccount: name }
  if ((spec.imagePullSecrets ?? []).length === 0 && imagePullSecrets.length > 0)
    spec.imagePullSecrets = imagePullSecrets.map((each) => ({ ...each }))
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
    Object.assign(spec, mountToken(spec, request.vendor))
  if (account.metadata.annotations?.[vendorKey(request.vendor, 'enforce-mountable-secrets')] === 'true')
    refuseOtherSecrets(request, spec, account)
  return { ...request.object!, spec }
}

/** An account may keep its pods to its own secrets. */
function refuseOtherSecrets(request: AdmissionRequest, spec: PodSpec, account: ServiceAccount): void {
  const own = new Set((account.secrets ?? []).map(({ name }) => name))
  const pull = new Set((account.imagePullSecrets ?? []).map(({ name }) => name))
  const because = `is not allowed because service account ${account.metadata.name} does not reference that`
  for (const { secret } of spec.volumes ?? [])
    if (secret !== undefined && !own.has(secret.secretName))
      throw refusal(request, `volume with secret.secretName="${secret.secretName}" ${because} secret`)
  for (const { who, variable, name } of variablesFromSecrets(spec))
    if (!own.has(name))
      throw refusal(request, `${who} with envVar ${variable} referencing secret.secretName="${name}" ${because} secret`)
  for (const [i, { name = '' }] of (spec.imagePullSecrets ?? []).entries())
    if (!pull.has(name)) throw refusal(request, `imagePullSecrets[${i}].name="${name}" ${because} imagePullSecret`)
}

/** Whose variable takes its value from which secret. */
function variablesFromSecrets({ initContainers = [], containers = [] }: PodSpec) {
  const all = [
    ...initContainers.map((one) => ({ who: `init container ${one.name}`, env: one.env ?? [] })),
    ...containers.map((one) => ({ who: `container ${one.name}`, env: one.env ?? [] })),
  ]
  return all.flatMap(({ who, env }) =>
    env.flatMap(({ name: variable = '', valueFrom }) =>
      valueFrom?.secretKeyRef === undefined ? [] : [{ who, variable, name: valueFrom.secretKeyRef.name }],
    ),
  )
}
