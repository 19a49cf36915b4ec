/** Flags of the control loops: those that `orch up` and `orch controller-manager` share, and those of `orch up` alone. */
import { type Flag, type Flags, flag, oneOf, readBoolean, text, UsageError } from '../../base/flags/flags.ts'
import { isServer } from '../../client/node/kubeconfig-cluster.ts'
import { controlLoops } from '../../cluster/controllers/all.ts'
import { clusterLoopFlags } from './cluster-loops.ts'
import { list, readTime } from './values.ts'

export const sharedLoopFlags = {
  clusterSigningDuration: flag({
    name: 'cluster-signing-duration',
    value: 'TIME',
    default: '8760h',
    read: readSigningTime,
    help: 'longest life of a certificate that a built-in signer issues; a request may ask for a shorter one',
  }),
  resourceQuotaSyncPeriod: flag({
    name: 'resource-quota-sync-period',
    value: 'TIME',
    default: '2m',
    read: readTime,
    help: 'time between full recounts of what a ResourceQuota counts; must be longer than any write takes',
  }),
  schedulerConfig: flag({
    name: 'scheduler-config',
    value: 'FILE',
    read: text,
    help: 'KubeSchedulerConfiguration of the loop scheduler: profiles, plugins, back-offs',
  }),
  createTokenSecrets: flag({
    name: 'create-token-secrets',
    default: 'false',
    read: readBoolean,
    help: 'make a token Secret for every service account; such tokens do not expire',
  }),
}

export const upLoopFlags = {
  controllers: controllersFlag('*,bootstrapsigner,tokencleaner'),
  ...sharedLoopFlags,
  ...clusterLoopFlags,
  volumeDirectory: volumeDirectoryFlag('volumes in the data directory by default'),
  defaultStorageClass: flag({
    name: 'default-storage-class',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: 'create the StorageClass "standard" as the default class, with the provisioner host-path',
  }),
  defaultLimitRange: flag({
    name: 'default-limit-range',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: 'create the LimitRange "limits" in the namespace default, by which containers without a request for cpu request 100m',
  }),
  enableBootstrapTokenAuth: flag({
    name: 'enable-bootstrap-token-auth',
    default: 'true',
    read: readBoolean,
    help: 'accept bootstrap tokens, which are Secrets in kube-system, as credentials',
  }),
  consoleLink: flag({
    name: 'console-link',
    value: 'WHEN',
    default: 'auto',
    read: oneOf(['auto', 'true', 'false']),
    help: 'print a link that signs the administrator in to the console, once and within 10 minutes; auto: where the output is a terminal',
  }),
  clusterInfoServer: flag({
    name: 'cluster-info-server',
    value: 'URL',
    read: readServer,
    help: 'address of this cluster for clients that join, in the ConfigMap cluster-info; the address of this server by default',
  }),
}

/** Where volumes are made; `otherwise` says what is so without it. */
export function volumeDirectoryFlag(otherwise: string): Flag<string> {
  return flag({
    name: 'volume-directory',
    value: 'DIR',
    read: text,
    help: `directory below which the provisioner host-path makes volumes; ${otherwise}`,
  })
}

/** Which loops run. What is written is judged when they are chosen, with all of them at hand. */
export function controllersFlag(fallback: string): Flag<readonly string[]> {
  const known = controlLoops.map(({ name, onByDefault = true }) => (onByDefault ? name : `${name} (not in *)`))
  return flag({
    name: 'controllers',
    value: 'NAMES',
    default: fallback,
    read: list,
    help: `control loops to run, separated by commas: * for all that are on by default, a name to add one, -name to leave one out: ${known.join(', ')}`,
  })
}

const syncsPrefix = 'syncs of '

/** How many objects each loop works on at once: a flag for every loop of the table that has one. */
export const syncFlags: Flags = Object.fromEntries(
  controlLoops.flatMap(({ name, syncs }) =>
    syncs === undefined
      ? []
      : [
          [
            syncsPrefix + name,
            flag({
              name: `concurrent-${syncs.flag}-syncs`,
              value: 'N',
              default: String(syncs.default),
              read: readCount,
              help: `how many objects the loop ${name} works on at once`,
            }),
          ],
        ],
  ),
)

/** What the flags above say, by the names of the loops. */
export function concurrencyOf(options: { readonly [option: string]: unknown }): Map<string, number> {
  return new Map(Object.keys(syncFlags).map((option) => [option.slice(syncsPrefix.length), options[option] as number]))
}

function readCount(value: string): number {
  const count = Number(value)
  if (!/^\d{1,4}$/.test(value) || count < 1)
    throw new UsageError(`${JSON.stringify(value)} is not a number from 1 to 9999`)
  return count
}

const shortestSigningMs = 10 * 60_000

function readSigningTime(value: string): number {
  const ms = readTime(value)
  if (ms < shortestSigningMs) throw new UsageError('certificates live for at least 10m')
  return ms
}

function readServer(value: string): string {
  if (value !== '' && !isServer(value)) throw new UsageError(`${JSON.stringify(value)} is not an https URL`)
  return text(value)
}
