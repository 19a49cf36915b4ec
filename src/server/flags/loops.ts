/**
 * Flags of the control loops: those shared by `orch up` and `orch controller-manager`, and those that exist only for
 * `orch up`.
 */
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
    help: 'maximum lifetime of certificates from built-in signers, at least 10m; a request may specify a shorter lifetime',
  }),
  resourceQuotaSyncPeriod: flag({
    name: 'resource-quota-sync-period',
    value: 'TIME',
    default: '2m',
    read: readTime,
    help: 'time between full recounts of ResourceQuota usage; must be longer than the slowest write',
  }),
  schedulerConfig: flag({
    name: 'scheduler-config',
    value: 'FILE',
    read: text,
    help: 'KubeSchedulerConfiguration file with the profiles, plugins and back-off times of the scheduler',
  }),
  createTokenSecrets: flag({
    name: 'create-token-secrets',
    default: 'false',
    read: readBoolean,
    help: 'create a token Secret for every service account; tokens in these Secrets do not expire',
  }),
}

export const upLoopFlags = {
  controllers: controllersFlag('*,bootstrapsigner,tokencleaner'),
  ...sharedLoopFlags,
  ...clusterLoopFlags,
  volumeDirectory: volumeDirectoryFlag('defaults to volumes in the data directory'),
  defaultStorageClass: flag({
    name: 'default-storage-class',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: 'create the default StorageClass "standard", with the host-path provisioner',
  }),
  defaultLimitRange: flag({
    name: 'default-limit-range',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: 'create the LimitRange "limits" in the default namespace, which sets a default CPU request of 100m for containers',
  }),
  enableBootstrapTokenAuth: flag({
    name: 'enable-bootstrap-token-auth',
    default: 'true',
    read: readBoolean,
    help: 'accept bootstrap tokens, which are stored as Secrets in kube-system',
  }),
  consoleLink: flag({
    name: 'console-link',
    value: 'WHEN',
    default: 'auto',
    read: oneOf(['auto', 'true', 'false']),
    help: 'print a link that signs the administrator in to the web console; the link works only once and expires after 10 minutes; auto prints the link only to a terminal',
  }),
  clusterInfoServer: flag({
    name: 'cluster-info-server',
    value: 'URL',
    read: readServer,
    help: "API server URL that new nodes use to join, published in the ConfigMap cluster-info; defaults to this server's URL",
  }),
}

/** Returns the flag for the directory of volumes. `otherwise` describes the default. */
export function volumeDirectoryFlag(otherwise: string): Flag<string> {
  return flag({
    name: 'volume-directory',
    value: 'DIR',
    read: text,
    help: `directory in which the host-path provisioner creates volumes; ${otherwise}`,
  })
}

/** Returns the flag that selects control loops. The names are validated later, when the loops are selected. */
export function controllersFlag(fallback: string): Flag<readonly string[]> {
  const loopNames = controlLoops.map(({ name, onByDefault = true }) => (onByDefault ? name : `${name} (not in *)`))
  return flag({
    name: 'controllers',
    value: 'NAMES',
    default: fallback,
    read: list,
    help: `control loops to run, separated by commas; * selects the loops that are on by default, NAME enables a loop, -NAME disables it; available: ${loopNames.join(', ')}`,
  })
}

const syncsPrefix = 'syncs of '

/** A concurrency flag for each loop that can reconcile several objects at a time (`--concurrent-<name>-syncs`). */
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
              help: `number of objects that the ${name} loop processes concurrently`,
            }),
          ],
        ],
  ),
)

/** Returns the values of the concurrency flags by loop name. */
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
  if (ms < shortestSigningMs) throw new UsageError('must be at least 10m')
  return ms
}

function readServer(value: string): string {
  if (value !== '' && !isServer(value)) throw new UsageError(`${JSON.stringify(value)} is not an https URL`)
  return text(value)
}
