/** All flags of the server, grouped as in the help text, and the frozen options parsed from them. */
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import { flag, type OptionsOf, text } from '../../base/flags/flags.ts'
import { admissionFlags } from './admission.ts'
import { apiFlags } from './api.ts'
import { auditFlags } from './audit.ts'
import { authenticationFlags } from './authentication.ts'
import { authorizationFlags } from './authorization.ts'
import { scheduledBackupFlags } from './backup.ts'
import { diagnosticsFlags } from './diagnostics.ts'
import { loggingFlags } from './logging.ts'
import { nodeFlags } from './nodes.ts'
import { overloadFlags } from './overload.ts'
import { serviceAccountFlags } from './service-account-tokens.ts'
import { servingFlags } from './serving.ts'
import { storeFlags } from './store.ts'

const fileFlags = {
  config: flag({
    name: 'config',
    value: 'FILE',
    read: text,
    help: 'OrchConfiguration file with a field per flag; flags override the file (see orch config)',
  }),

  adminKubeconfig: flag({
    name: 'admin-kubeconfig',
    value: 'FILE',
    default: '.orch/admin.kubeconfig',
    read: text,
    help: "file to write the administrator's kubeconfig to; empty to write none",
  }),
}

/** The flags of the API server, grouped by the headings of the help text. */
export const serverFlagGroups = {
  Serving: { ...servingFlags, ...fileFlags },
  Overload: overloadFlags,
  Storage: { ...storeFlags, ...scheduledBackupFlags },
  API: apiFlags,
  Nodes: nodeFlags,
  Authentication: authenticationFlags,
  'Service account tokens': serviceAccountFlags,
  Authorization: authorizationFlags,
  Admission: admissionFlags,
  Auditing: auditFlags,
  Logging: loggingFlags,
  Diagnostics: diagnosticsFlags,
} as const

/** All flags of the API server in one object. */
export const serverFlags = {
  ...serverFlagGroups.Serving,
  ...serverFlagGroups.Overload,
  ...serverFlagGroups.Storage,
  ...serverFlagGroups.API,
  ...serverFlagGroups.Nodes,
  ...serverFlagGroups.Authentication,
  ...serverFlagGroups['Service account tokens'],
  ...serverFlagGroups.Authorization,
  ...serverFlagGroups.Admission,
  ...serverFlagGroups.Auditing,
  ...serverFlagGroups.Logging,
  ...serverFlagGroups.Diagnostics,
}

/** The API server's parsed flags. */
export type ServerOptions = OptionsOf<typeof serverFlags>

/** The API server's parsed flags, with the emulated version that was determined from the flags and the store. */
export type EmulatedOptions = ServerOptions & { readonly emulatedVersion: EmulatedVersion }
