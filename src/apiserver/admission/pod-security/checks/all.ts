/**
 * All pod security checks: baseline, then restricted, each sorted by ID. Messages list violations in the same order.
 */
import type { Check } from '../check.ts'
import { allowPrivilegeEscalation } from './allow-privilege-escalation.ts'
import { appArmorProfile } from './app-armor-profile.ts'
import { capabilitiesBaseline } from './capabilities-baseline.ts'
import { capabilitiesRestricted } from './capabilities-restricted.ts'
import { hostNamespaces } from './host-namespaces.ts'
import { hostPathVolumes } from './host-path-volumes.ts'
import { hostPorts } from './host-ports.ts'
import { privileged } from './privileged.ts'
import { probeHosts } from './probe-hosts.ts'
import { procMount } from './proc-mount.ts'
import { restrictedVolumes } from './restricted-volumes.ts'
import { runAsNonRoot } from './run-as-non-root.ts'
import { runAsUser } from './run-as-user.ts'
import { seLinuxOptions } from './se-linux-options.ts'
import { seccompBaseline } from './seccomp-baseline.ts'
import { seccompRestricted } from './seccomp-restricted.ts'
import { sysctls } from './sysctls.ts'
import { windowsHostProcess } from './windows-host-process.ts'

export const allChecks: readonly Check[] = [
  appArmorProfile,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  probeHosts,
  privileged,
  procMount,
  seLinuxOptions,
  seccompBaseline,
  sysctls,
  windowsHostProcess,
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
]
