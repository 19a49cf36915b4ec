/**
 * ServiceAccount: assigns a service account to every pod. The default is the account `default` of the pod's namespace.
 * The pod gets the account's image pull secrets. Unless the pod or the account opts out, the pod also gets a token
 * volume that is mounted at the same path in all containers. Mirror pods, which represent pods that a node runs on its
 * own, have neither an account nor secrets.
 *
 * A control loop creates the default account of a new namespace, so this plugin waits about a second for the account.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { ServiceAccount } from '../../../api/kinds/core/service-account.ts'
import { serviceAccount as serviceAccounts } from '../../../api/kinds/core/service-account.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { secretsOf, usesNamelessSecret } from '../../../api/model/pod-secrets.ts'
import { defaultAccount } from '../../../api/model/service-account.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'
import { mountToken } from '../token-volume.ts'

interface ServiceAccountParts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  readonly clock: Clock
}

export function serviceAccount({ vendor, ...looking }: ServiceAccountParts): Control<Pod> {
  const mirror = vendorKey(vendor, 'config.mirror')
  const isMirror = ({ object }: AdmissionRequest<Pod>) => object.metadata.annotations?.[mirror] !== undefined
  return {
    name: 'ServiceAccount',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [pods],
      subresources: ['', 'ephemeralcontainers'],
    },
    mutate: (request) => {
      if (request.operation !== 'CREATE') return undefined
      if (isMirror(request)) return checkMirror(request)
      const storedAccount = findAccount(looking, request)
      return storedAccount instanceof Promise
        ? storedAccount.then((later) => useAccount(request, later))
        : useAccount(request, storedAccount)
    },
    // Check the pod once more. Other plugins may have changed it, and ephemeral containers are added later.
    validate: (request) => {
      if (isMirror(request)) return checkMirror(request)
      if (request.operation === 'UPDATE' && request.subresource === '') return undefined
      const storedAccount = findAccount(looking, request)
      return storedAccount instanceof Promise
        ? storedAccount.then((later) => judge(request, later))
        : judge(request, storedAccount)
    },
  }
}

type PodSpec = NonNullable<Pod['spec']>

function specOf({ object }: AdmissionRequest<Pod>): PodSpec {
  return object.spec ?? {}
}

function checkMirror(request: AdmissionRequest<Pod>): undefined {
  const spec = specOf(request)
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
  if (spec.serviceAccountName) throw refusal(request, 'a mirror pod may not reference service accounts')
  if (secretsOf(spec).length > 0) throw refusal(request, 'a mirror pod may not reference secrets')
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined))
    throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections')
}

type Looking = Pick<ServiceAccountParts, 'lookup' | 'clock'>

function findAccount(
  looking: Looking,
  request: AdmissionRequest<Pod>,
): StoredObject | Promise<StoredObject | undefined> {
  const place = { namespace: request.namespace, name: nameOf(request) }
  return looking.lookup.getCached(serviceAccounts, place) ?? awaitAccount(looking, place)
}

function nameOf(request: AdmissionRequest<Pod>): string {
  return specOf(request).serviceAccountName || defaultAccount
}

const patienceMs = 1000
const pauseMs = 100
/**
 * Minimum number of lookups of the default account. On an overloaded machine, the control loop that creates the account
 * may be slow.
 */
const minLooks = 10

/**
 * Looks up a service account. Waits only for the default account of a new namespace, because other accounts must exist
 * before their pods.
 */
async function awaitAccount(
  { lookup, clock }: Looking,
  place: { readonly namespace: string; readonly name: string },
): Promise<StoredObject | undefined> {
  const begun = clock.monotonic()
  for (let looks = 1; ; looks++) {
    const storedAccount = await lookup.getLatest(serviceAccounts, place)
    const isOver = looks >= minLooks && clock.monotonic() - begun >= patienceMs
    if (storedAccount !== undefined || place.name !== defaultAccount || isOver) return storedAccount
    await sleep(pauseMs)
  }
}

function accountOf(
  request: AdmissionRequest<Pod>,
  storedAccount: StoredObject<ServiceAccount> | undefined,
): ServiceAccount {
  const name = nameOf(request)
  if (storedAccount === undefined)
    throw refusal(
      request,
      `error looking up service account ${request.namespace}/${name}: serviceaccount "${name}" not found`,
    )
  request.dependOn?.(storedAccount)
  return storedAccount.object
}

function useAccount(request: AdmissionRequest<Pod>, storedAccount: StoredObject<ServiceAccount> | undefined): Pod {
  const account = accountOf(request, storedAccount)
  const name = nameOf(request)
  const { imagePullSecrets = [] } = account
  const spec: PodSpec = { ...specOf(request), serviceAccountName: name, serviceAccount: name }
  if ((spec.imagePullSecrets ?? []).length === 0 && imagePullSecrets.length > 0)
    spec.imagePullSecrets = imagePullSecrets.map((each) => ({ ...each }))
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
    Object.assign(spec, mountToken(spec, request.vendor))
  const object = { ...request.object, spec }
  // Check the account before the pod is validated, so that a forbidden pod is reported as forbidden and not as invalid.
  judge({ ...request, object }, storedAccount)
  return object
}

/** Checks a pod's secrets if the pod's service account restricts pods to the secrets that the account lists. */
function judge(request: AdmissionRequest<Pod>, storedAccount: StoredObject | undefined): void {
  if (storedAccount === undefined && request.operation === 'UPDATE') return
  const account = accountOf(request, storedAccount)
  if (keepsSecrets(request, account)) refuseOtherSecrets(request, account)
}

const yes = ['1', 't', 'T', 'true', 'TRUE', 'True']
const no = ['0', 'f', 'F', 'false', 'FALSE', 'False']

function keepsSecrets(request: AdmissionRequest<Pod>, { metadata }: ApiObject): boolean {
  const key = vendorKey(request.vendor, 'enforce-mountable-secrets')
  const value = metadata.annotations?.[key] ?? 'false'
  if (yes.includes(value) || no.includes(value)) return yes.includes(value)
  throw refusal(request, `annotation ${key} of service account ${metadata.name} must be true or false, not "${value}"`)
}

/**
 * Rejects secrets that the service account does not list. Checks all secrets that a pod uses: in volumes, in
 * environment variables and for image pulls.
 */
function refuseOtherSecrets(request: AdmissionRequest<Pod>, account: ServiceAccount): void {
  const { imagePullSecrets = [], ...spec } = specOf(request)
  const own = new Set((account.secrets ?? []).map(({ name }) => name))
  const pull = new Set((account.imagePullSecrets ?? []).map(({ name }) => name))
  const because = `is not allowed because service account ${account.metadata.name} does not reference that`
  const other = usesNamelessSecret(spec) ? '' : secretsOf(spec).find((name) => !own.has(name))
  if (other !== undefined) throw refusal(request, `secret "${other}" ${because} secret`)
  for (const [i, { name = '' }] of imagePullSecrets.entries())
    if (!pull.has(name)) throw refusal(request, `imagePullSecrets[${i}].name="${name}" ${because} imagePullSecret`)
}
