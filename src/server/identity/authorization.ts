/**
 * Authorization, as configured by `--authorization-mode` or the `--authorization-config` file. Superusers and health
 * probes are always allowed.
 */

import { sameJson } from '../../api/json/json.ts'
import { superusers, type User } from '../../api/model/user.ts'
import { abac } from '../../apiserver/authz/abac.ts'
import { type Access, allRules, everything, type Mode, noRules, type ToldRules } from '../../apiserver/authz/access.ts'
import {
  type Authorizer,
  alwaysAllow,
  alwaysDeny,
  nodeClient,
  openPaths,
  privilegedGroup,
  union,
} from '../../apiserver/authz/authorizer.ts'
import { nodeMode } from '../../apiserver/authz/node/authorizer.ts'
import { rbac, rbacRules } from '../../apiserver/authz/rbac/authorizer.ts'
import { Policy } from '../../apiserver/authz/rbac/policy.ts'
import { webhook } from '../../apiserver/authz/webhook.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { errorFields } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import { type AuthorizationMode, authorizationModesOf } from '../flags/authorization.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { EmulatedOptions } from '../flags/options.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import type { AccessParts, ConfiguredModes, Making, PlainMode } from './mode-making.ts'

/** Paths that all clients may read, so that probes work without credentials. */
const open = ['/livez', '/readyz', '/healthz']

interface Opened extends Access {
  /** Closes the connections to the authorization webhook. */
  close(): void
}

/** Opens authorization. Must be called before the caches are loaded, so that it observes all changes. */
export async function openAccess(options: EmulatedOptions, parts: AccessParts): Promise<Opened> {
  using opened = new DisposableStack()
  const policy = new Policy(parts.lookup)
  const making = { ...parts, options, policy, opened }
  const modes = await openModes(making)
  const closing = opened.move()
  const byRoles = rbac(policy, parts.vendor)
  const explainBy: Authorizer = (question) => (modes.hasType('RBAC') ? byRoles : alwaysAllow)(question)
  const always = [privilegedGroup, nodeClient, openPaths(open, explainBy)]
  return {
    authorizer: unionOfCurrent(always, modes.current),
    policy,
    rulesOf: (user, namespace) => rulesOf(modes.current(), user, namespace),
    close: () => closing.dispose(),
  }
}

/** Opens the authorization modes that the flag or the file lists. */
async function openModes(making: Making): Promise<ConfiguredModes> {
  const { options } = making
  const makePlain = (type: PlainMode) => plainMakers[type](making)
  if (options.authorizationConfig !== '') {
    const { openAuthorizationConfiguration } = await import('./authorization-configuration.ts')
    return await openAuthorizationConfiguration(making, makePlain)
  }
  const names = authorizationModesOf(options)
  refuseUnusedFiles(options, names)
  const make = (name: AuthorizationMode) => (name === 'Webhook' ? webhookMode(making) : makePlain(name))
  const modes = await Promise.all([...new Set(names)].map(make))
  return { current: () => modes, hasType: (type) => names.includes(type) }
}

/** Returns the union of the authorizers. It is recreated only after the modes have been replaced. */
function unionOfCurrent(always: readonly Authorizer[], current: () => readonly Mode[]): Authorizer {
  let modes: readonly Mode[] | undefined
  let combined: Authorizer = union(always)
  return (question) => {
    if (modes !== current()) {
      modes = current()
      combined = union([...always, ...modes.map(({ authorizer }) => authorizer)])
    }
    return combined(question)
  }
}

const plainMakers: { readonly [M in PlainMode]: (making: Making) => Mode } = {
  Node: ({ vendor, lookup, options }) => nodeMode({ vendor, lookup, emulation: emulationFrom(options) }),
  RBAC: ({ vendor, policy }) => ({ authorizer: rbac(policy, vendor), rulesOf: rbacRules(policy, vendor) }),
  ABAC: abacMode,
  AlwaysAllow: () => ({ authorizer: alwaysAllow, rulesOf: () => allRules }),
  AlwaysDeny: () => ({ authorizer: alwaysDeny, rulesOf: () => noRules }),
}

/** Modes that require a file. The flag that specifies the file must be set if and only if the mode is selected. */
const files = [
  {
    mode: 'ABAC',
    flag: 'authorization-policy-file',
    file: (options: EmulatedOptions) => options.authorizationPolicyFile,
  },
  {
    mode: 'Webhook',
    flag: 'authorization-webhook-config-file',
    file: (options: EmulatedOptions) => options.authorizationWebhookConfigFile,
  },
] as const

function refuseUnusedFiles(options: EmulatedOptions, modes: readonly AuthorizationMode[]): void {
  for (const { mode, flag, file } of files) {
    const isFileSet = file(options) !== ''
    const used = modes.includes(mode)
    if (used && !isFileSet) throw new UsageError(`the authorization mode ${mode} requires --${flag}`)
    if (isFileSet && !used) throw new UsageError(`--${flag} requires the ${mode} mode: add it to --authorization-mode`)
  }
}

function abacMode({ options, vendor }: Making): Mode {
  const file = options.authorizationPolicyFile
  if (file === '') throw new UsageError('the authorization mode ABAC requires --authorization-policy-file')
  const text = readFlagFile('authorization-policy-file', file)
  try {
    return abac(text, vendor)
  } catch (error) {
    throw new UsageError(`--authorization-policy-file: ${file}: ${messageOf(error)}`, { cause: error })
  }
}

async function webhookMode({ options, vendor, clock, log, reloading, opened }: Making): Promise<Mode> {
  const { webhookService } = await import('./webhook-service.ts')
  const file = options.authorizationWebhookConfigFile
  const service = webhookService('authorization-webhook-config-file', file, reloading)
  opened.defer(() => service.close())
  return webhook({
    vendor,
    clock,
    version: options.authorizationWebhookVersion,
    sendsSelectors: emulationFrom(options).gates.has('AuthorizeWithSelectors'),
    authorizedTtlMs: options.authorizationWebhookCacheAuthorizedTtl,
    unauthorizedTtlMs: options.authorizationWebhookCacheUnauthorizedTtl,
    post: (review, trace) => service.post(review, trace),
    onFailure: (error) => log.error('authorization webhook failed; the next authorizer decides', errorFields(error)),
  })
}

/** Whether the rules allow every action, as those of the superuser role do. */
function allowsEverything(ruleLists: readonly ToldRules[]): boolean {
  return ruleLists.some(({ rules }) => rules.some((role) => sameJson(role, everything)))
}

async function rulesOf(modes: readonly Mode[], user: User, namespace: string): Promise<ToldRules> {
  const ruleLists = await Promise.all(modes.map((mode) => mode.rulesOf(user, namespace)))
  if (user.groups.includes(superusers) && !allowsEverything(ruleLists)) ruleLists.unshift(allRules)
  return {
    rules: ruleLists.flatMap(({ rules }) => rules),
    incomplete: ruleLists.some(({ incomplete }) => incomplete),
    notes: ruleLists.flatMap(({ notes }) => notes),
  }
}
