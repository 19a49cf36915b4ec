/** Implements `orchctl label`. */
import { checkLabelValue } from '../../../../api/model/names.ts'
import { defineCommand } from '../../program/command.ts'
import { markFlags, runMarks } from './metadata-changes.ts'

export const labelCommand = defineCommand({
  name: 'label',
  forms: [
    'TYPE NAME... KEY=VALUE... [KEY-...] [flags]',
    '(-f FILE | TYPE -l SELECTOR | TYPE --all) KEY=VALUE... [flags]',
  ],
  about: 'Set or remove labels on objects. Changing an existing value requires --overwrite.',
  examples: [
    'orchctl label configmap greeting app=web',
    'orchctl label configmaps --all tier=front --overwrite',
    'orchctl label configmap greeting app-',
  ],
  flags: markFlags,
  run: (context, line) =>
    runMarks(context, line, {
      map: 'labels',
      noun: 'label',
      namesAbsent: true,
      done: 'labeled',
      faultsOf: checkLabelValue,
      taken: (what) => `${what}, and --overwrite is false`,
    }),
})
