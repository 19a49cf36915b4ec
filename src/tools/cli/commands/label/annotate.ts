/** Implements `orchctl annotate`. */
import { defineCommand } from '../../program/command.ts'
import { markFlags, runMarks } from './metadata-changes.ts'

export const annotateCommand = defineCommand({
  name: 'annotate',
  forms: [
    'TYPE NAME... KEY=VALUE... [KEY-...] [flags]',
    '(-f FILE | TYPE -l SELECTOR | TYPE --all) KEY=VALUE... [flags]',
  ],
  about: 'Set or remove annotations on objects. Changing an existing value requires --overwrite.',
  examples: [
    "orchctl annotate configmap greeting description='what we say'",
    'orchctl annotate configmap greeting description-',
  ],
  flags: markFlags,
  run: (context, line) =>
    runMarks(context, line, {
      map: 'annotations',
      noun: 'annotation',
      namesAbsent: false,
      done: 'annotated',
      faultsOf: () => [],
      taken: (what) => `--overwrite is false but found the following declared annotation(s): ${what}`,
    }),
})
