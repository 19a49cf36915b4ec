/** Defines the flags for authorization. */
import { flag, ifGiven, oneOf, text, UsageError } from '../../base/flags/flags.ts'
import { list, readTime } from './values.ts'

const authorizationModes = ['Node', 'RBAC', 'ABAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const
/** An authorization mode, such as RBAC. */
export type AuthorizationMode = (typeof authorizationModes)[number]

export const authorizationFlags = {
  authorizationMode: ifGiven(
    flag({
      name: 'authorization-mode',
      value: 'MODES',
      read: readModes,
      help: `authorization modes, separated by commas, in the order in which the server tries them: ${authorizationModes.join(', ')}; the group system:masters is always allowed; defaults to Node,RBAC`,
    }),
  ),
  authorizationConfig: flag({
    name: 'authorization-config',
    value: 'FILE',
    read: text,
    help: 'AuthorizationConfiguration file with an ordered list of authorizers; reloaded when it changes; cannot be combined with --authorization-mode or the --authorization-webhook flags',
  }),
  authorizationPolicyFile: flag({
    name: 'authorization-policy-file',
    value: 'FILE',
    read: text,
    help: 'ABAC policy file, one JSON object per line',
  }),
  authorizationWebhookConfigFile: flag({
    name: 'authorization-webhook-config-file',
    value: 'FILE',
    read: text,
    help: 'kubeconfig for the authorization webhook, used by the Webhook mode',
  }),
  authorizationWebhookVersion: flag({
    name: 'authorization-webhook-version',
    value: 'VERSION',
    default: 'v1beta1',
    read: oneOf(['v1', 'v1beta1']),
    help: 'version of the SubjectAccessReviews sent to the webhook: v1 or v1beta1',
  }),
  authorizationWebhookCacheAuthorizedTtl: flag({
    name: 'authorization-webhook-cache-authorized-ttl',
    value: 'TIME',
    default: '5m',
    read: readTime,
    help: 'time to cache authorization webhook responses that allow a request; 0s disables caching',
  }),
  authorizationWebhookCacheUnauthorizedTtl: flag({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    value: 'TIME',
    default: '30s',
    read: readTime,
    help: 'time to cache authorization webhook responses that do not allow a request; 0s disables caching',
  }),
}

/** Returns the modes in the flag, or the default modes. The modes have no effect if `--authorization-config` is set. */
export function authorizationModesOf(options: {
  readonly authorizationMode: readonly AuthorizationMode[] | undefined
}): readonly AuthorizationMode[] {
  return options.authorizationMode ?? ['Node', 'RBAC']
}

function readModes(value: string): AuthorizationMode[] {
  const modes = list(value)
  if (modes.length === 0) throw new UsageError(`specify at least one mode: ${authorizationModes.join(', ')}`)
  return modes.map((mode, index) => {
    if (modes.indexOf(mode) < index) throw new UsageError(`${mode} is specified twice`)
    const knownMode = authorizationModes.find((candidate) => candidate === mode)
    if (knownMode === undefined)
      throw new UsageError(`unknown mode ${JSON.stringify(mode)}; known modes are ${authorizationModes.join(', ')}`)
    return knownMode
  })
}
