/**
 * Defines the `--override-type` flag, which specifies the patch type of `--overrides`. The flag has its own file so
 * that defining it does not load the merge code, which loads every kind.
 */
import { flag, type OptionsOf, oneOf } from '../../../base/flags/flags.ts'

export const overrideTypeFlag = flag({
  name: 'override-type',
  value: 'merge|strategic|json',
  default: 'merge',
  read: oneOf(['merge', 'strategic', 'json']),
  help: 'type of the patch in --overrides: merge (replaces lists), strategic (merges lists by key) or json (a list of operations)',
})

export type OverrideType = OptionsOf<{ type: typeof overrideTypeFlag }>['type']
