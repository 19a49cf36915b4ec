/**
 * The authorizers listed in the `--authorization-config` file. The file is reloaded when it changes. If the new content
 * is invalid, the previous authorizers remain in use, and the error is logged and counted.
 */

import { loadPatternEngine } from '../../api/cel/pattern-engine.ts'
import { ConfigurationFault } from '../../api/schema/read-configuration.ts'
import { isAvailable } from '../../api/versions/availability.ts'
import { minorOf } from '../../api/versions/emulated-version.ts'
import type { Mode } from '../../apiserver/authz/access.ts'
import {
  type ConfiguredAuthorizer,
  type ConfiguredWebhook,
  readAuthorizationConfiguration,
} from '../../apiserver/authz/structured/authorization-configuration.ts'
import { compileConditions } from '../../apiserver/authz/structured/match-conditions.ts'
import { webhook } from '../../apiserver/authz/webhook.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { errorFields } from '../../base/telemetry/log.ts'
import { loadDocumentReader } from '../flags/configuration-document.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { EmulatedOptions } from '../flags/options.ts'
import type { ConfiguredModes, Making, PlainMode } from './mode-making.ts'
import { webhookService } from './webhook-service.ts'

const flagName = 'authorization-config'

/**
 * Opens the authorizers in the file. `makePlain` creates an authorizer of a type that needs no settings. Throws
 * UsageError if the file is invalid.
 */
export async function openAuthorizationConfiguration(
  making: Making,
  makePlain: (type: PlainMode) => Mode,
): Promise<ConfiguredModes> {
  const { options, reloading, opened, reloads } = making
  refuseConflicts(options)
  const file = options.authorizationConfig
  const readDocument = await loadDocumentReader()
  const readPattern = await loadPatternEngine()
  const plainModes = new Map<PlainMode, Mode>()
  const plainMode = (type: PlainMode) => {
    const mode = plainModes.get(type) ?? makePlain(type)
    plainModes.set(type, mode)
    return mode
  }
  const open = () => {
    using webhooks = new DisposableStack()
    const modes = readDocument(flagName, file, (document) => {
      const parts = { vendor: making.vendor, version: options.emulatedVersion }
      const configured = readAuthorizationConfiguration(document, parts)
      assertAnonymousIsSettled(configured, options)
      return configured.map((each) => ({
        type: each.type,
        mode: each.type === 'Webhook' ? openWebhook(each, { ...making, webhooks, readPattern }) : plainMode(each.type),
      }))
    })
    return {
      modes: modes.map(({ mode }) => mode),
      types: new Set(modes.map(({ type }) => type)),
      closing: webhooks.move(),
    }
  }
  let current = open()
  opened.defer(() => current.closing.dispose())
  const reload = () => {
    const previous = current
    current = open()
    previous.closing.dispose()
  }
  opened.defer(reloading.follow(flagName, [file], () => reloads.count(reload)))
  return { current: () => current.modes, hasType: (type) => current.types.has(type) }
}

function refuseConflicts(options: EmulatedOptions): void {
  const gate = 'StructuredAuthorizationConfiguration'
  if (!isAvailable({ since: '1.29', gate }, emulationFrom(options)))
    throw new UsageError(`--${flagName} requires the feature gate ${gate}, which was added in Kubernetes 1.29`)
  if (options.authorizationMode !== undefined)
    throw new UsageError(`--${flagName} and --authorization-mode are mutually exclusive: list the modes in the file`)
  if (options.authorizationWebhookConfigFile !== '')
    throw new UsageError(`--${flagName} and the --authorization-webhook flags are mutually exclusive`)
}

/**
 * Throws if the file neither enables nor disables anonymous requests explicitly. With AlwaysAllow, the default would
 * grant all permissions to all clients.
 */
function assertAnonymousIsSettled(
  configured: readonly ConfiguredAuthorizer[],
  { anonymousAuth }: Pick<EmulatedOptions, 'anonymousAuth'>,
): void {
  const index = configured.findIndex(({ type }) => type === 'AlwaysAllow')
  if (index < 0 || anonymousAuth !== 'auto') return
  const path = `authorizers[${index}].type`
  throw new ConfigurationFault(path, `${path}: AlwaysAllow requires --anonymous-auth=true or --anonymous-auth=false`)
}

interface WebhookMaking extends Making {
  /** Closes the connections to the webhook once no authorizer uses it anymore. */
  readonly webhooks: DisposableStack
  readonly readPattern: Awaited<ReturnType<typeof loadPatternEngine>>
}

function openWebhook(
  { name, path, conditions, kubeConfigFile, timeoutMs, ...configured }: ConfiguredWebhook,
  { options, vendor, clock, log, reloading, webhooks, readPattern }: WebhookMaking,
): Mode {
  const hasSelectors = emulationFrom(options).gates.has('AuthorizeWithSelectors')
  const compiling = { readPattern, version: minorOf(options.emulatedVersion), hasSelectors }
  const compiled = compileConditions(conditions, `${path}.matchConditions`, compiling)
  const service = webhookService(flagName, kubeConfigFile, reloading)
  webhooks.defer(() => service.close())
  return webhook({
    ...configured,
    vendor,
    clock,
    sendsSelectors: hasSelectors,
    ...(conditions.length === 0 ? {} : { conditions: compiled }),
    post: (review, trace) => service.post(review, trace, timeoutMs),
    onFailure: (error) => log.error('authorization webhook failed', { ...errorFields(error), webhook: name }),
  })
}
