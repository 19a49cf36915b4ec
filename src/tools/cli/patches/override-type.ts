/** `--override-type`: how `--overrides` is merged. Apart from the merge itself, which loads every kind. */
import { flag, type OptionsOf, oneOf } from '../../../base/flags/flags.ts'

export const overrideTypeFlag = flag({
  name: 'override-type',
  value: 'merge|strategic|json',
  default: 'merge',
  read: oneOf(['merge', 'strategic', 'json']),
  help: 'the form of --overrides: it replaces lists, merges them by name, or is a list of steps',
})

export type OverrideType = OptionsOf<{ type: typeof overrideTypeFlag }>['type']
