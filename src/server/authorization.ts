/** What users may do, as `--authorization-mode` says. Superusers and whoever asks for health are never refused. */
import { type Authorizer, alwaysAllow, alwaysDeny, openPaths, privilegedGroup, union } from '../authz/authorizer.ts'
import type { AuthorizationMode } from './options.ts'

const modes: { readonly [M in AuthorizationMode]: Authorizer } = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny }

/** What anyone may read: probes must work whoever asks. */
const open = ['/livez', '/readyz', '/healthz', '/version', '/version/']

export function makeAuthorizer(names: readonly AuthorizationMode[]): Authorizer {
  return union([privilegedGroup, openPaths(open), ...names.map((name) => modes[name])])
}
