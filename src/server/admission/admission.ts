/**
 * Builds the admission chain from the flags and the configuration file. No setting is ignored: an unknown plugin, a
 * configuration for a plugin that accepts none, or an unknown field prevents the server from starting.
 */
import { type Admission, type Control, chain } from '../../apiserver/admission/admission.ts'
import type { AdmissionMetrics } from '../../apiserver/admission/admission-metrics.ts'
import type { ControlEntry, ControlParts, ControlState } from '../../apiserver/admission/controls/all.ts'
import { refuseEscalation } from '../../apiserver/admission/escalation.ts'
import { refuseUnreadableParameters } from '../../apiserver/admission/policy/parameter-access.ts'
import { recordStageAuthor } from '../../apiserver/admission/stage-author.ts'
import { type WarningParts, warnOfWebhooks } from '../../apiserver/admission/webhook/configuration-warnings.ts'
import type { Access } from '../../apiserver/authz/access.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import { assertKnown, controlsOf, findControl } from '../flags/admission-controls.ts'
import type { ServerOptions } from '../flags/options.ts'
import { type ControlConfiguration, readAdmissionConfiguration } from './admission-configuration.ts'

type TolerationOption = 'notReadyTolerationSeconds' | 'unreachableTolerationSeconds'
type AdmissionOptions = Pick<
  ServerOptions,
  'enableAdmissionPlugins' | 'disableAdmissionPlugins' | 'admissionControlConfigFile' | TolerationOption
>

export interface AdmissionParts extends Omit<ControlParts, 'metrics'>, Pick<WarningParts, 'servedTypes'> {
  readonly access: Access
  /** Additional plugins that this server enables unless a flag disables them. */
  readonly furtherDefaults: readonly string[]
}

export interface MadeAdmission {
  /** The admission chain for client requests. */
  readonly admission: Admission
  /** The admission chain for deletions by the server itself. Quotas must count these deletions. */
  readonly accounting: Admission
  /** All plugins, in the order of execution. */
  readonly controls: readonly ControlState[]
}

/** Builds the admission chain. Throws UsageError if a flag or the configuration file is invalid. */
export async function makeAdmission(
  options: AdmissionOptions,
  parts: AdmissionParts,
  metrics: AdmissionMetrics,
): Promise<MadeAdmission> {
  const { enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled } = options
  const { version } = parts.emulation
  for (const name of enabled) findControl(name, version, '--enable-admission-plugins')
  for (const name of disabled) assertKnown(name, version, '--disable-admission-plugins')
  const entries = controlsOf(version).map((entry) => ({
    ...entry,
    byDefault: entry.byDefault || parts.furtherDefaults.includes(entry.name),
  }))
  const tolerationSeconds = {
    'not-ready': options.notReadyTolerationSeconds,
    unreachable: options.unreachableTolerationSeconds,
  }
  const both = enabled.find((name) => disabled.includes(name))
  if (both !== undefined)
    throw new UsageError(`${both} is in both --enable-admission-plugins and --disable-admission-plugins: choose one`)
  const configurations = await readAdmissionConfiguration(options.admissionControlConfigFile, parts.vendor)
  const make = (entry: ControlEntry) => makeControl(entry, { ...parts, metrics, tolerationSeconds }, configurations)
  const isRunning = ({ name, byDefault }: ControlEntry) =>
    enabled.includes(name) || (byDefault && !disabled.includes(name))
  // The configuration of a disabled plugin is also checked. Otherwise, an invalid configuration would prevent the
  // server from starting once the plugin is enabled.
  const configured = [...configurations].map(([name, { source }]) => findControl(name, version, source))
  for (const entry of configured) if (!isRunning(entry)) await make(entry)
  const activeControls = await Promise.all(entries.filter(isRunning).map(make))
  warnOfUncalledWebhooks(activeControls, parts)
  const controls = activeControls.map((control) => metrics.measuredControl(control))
  return {
    admission: metrics.measuredChain(
      chain(
        [
          ...controls,
          refuseEscalation(parts.access, version),
          refuseUnreadableParameters(parts),
          recordStageAuthor(parts.vendor),
          warnOfWebhooks(parts),
        ],
        parts.vendor,
      ),
    ),
    accounting: chain(
      controls.filter(({ accounts }) => accounts),
      parts.vendor,
    ),
    controls: entries.map((entry) => stateOf(entry, activeControls)),
  }
}

/** Webhook plugins, each with the resource type that registers its webhooks. */
const webhookControls = {
  MutatingAdmissionWebhook: 'mutatingwebhookconfigurations',
  ValidatingAdmissionWebhook: 'validatingwebhookconfigurations',
}

/**
 * Warns about stored webhook configurations that have no effect because a plugin is disabled. Clients that write such a
 * configuration receive a success response, so they expect the server to call the webhook.
 */
function warnOfUncalledWebhooks(activeControls: readonly Control[], { servedTypes, log }: AdmissionParts): void {
  const servedResources = new Set(servedTypes().map(({ resource }) => resource))
  for (const [name, resource] of Object.entries(webhookControls))
    if (servedResources.has(resource) && !activeControls.some((control) => control.name === name))
      log.warn(`${name} is disabled: ${resource} are stored, but their webhooks are never called`)
}

function stateOf({ name, byDefault }: ControlEntry, activeControls: readonly Control[]): ControlState {
  const control = activeControls.find((each) => each.name === name)
  const steps = (['mutate', 'validate'] as const).filter((step) => control?.[step] !== undefined)
  return { name, byDefault, enabled: control !== undefined, steps }
}

async function makeControl(
  { name, make, configure }: ControlEntry,
  parts: ControlParts,
  configurations: ReadonlyMap<string, ControlConfiguration>,
): Promise<Control> {
  const configuration = configurations.get(name)
  if (configuration === undefined) return make(parts)
  if (configure === undefined)
    throw new UsageError(`${configuration.source}: ${name} accepts no configuration: remove its entry`)
  if (configuration.value === null) return make(parts)
  try {
    return await configure(parts, configuration.value)
  } catch (error) {
    throw new UsageError(`${configuration.source}: ${name}: ${messageOf(error)}`, { cause: error })
  }
}
