/** Flags of `orch up`: the flags of the API server, the control loops and the simulated nodes. */
import type { OptionsOf } from '../../base/flags/flags.ts'
import { syncFlags, upLoopFlags } from './loops.ts'
import { serverFlags } from './options.ts'
import { simulatedNodeFlags } from './simulated-nodes.ts'

/** Flags that exist only for `orch up`. */
export const upFlags = { ...upLoopFlags, ...simulatedNodeFlags }

/** Parsed flags that exist only for `orch up`. */
export type UpOptions = OptionsOf<typeof upFlags>

type AllFlags = Omit<typeof serverFlags, keyof typeof upFlags> & typeof upFlags

/** All flags of `orch up`. */
export const allUpFlags = { ...serverFlags, ...upFlags, ...syncFlags } as AllFlags

/**
 * Flags that only `orch up` has. Flags of the API server are excluded, even if their defaults are different in `orch
 * up`.
 */
export const upOnlyFlags = Object.fromEntries(
  Object.entries(allUpFlags).filter(([name]) => !Object.hasOwn(serverFlags, name)),
)
