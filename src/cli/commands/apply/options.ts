/** The flags of `orchctl apply`. */
import { flag, type OptionsOf, text, toggle } from '../../../base/flags.ts'
import { connectionFlags } from '../../connection-flags.ts'
import { fileFlags } from '../../subjects.ts'
import { validateFlag, writeFlags } from '../../writing.ts'

export const applyFlags = {
  ...fileFlags,
  ...writeFlags,
  serverSide: toggle('server-side', 'let the server merge, and record who owns which field'),
  forceConflicts: toggle('force-conflicts', 'with --server-side: take over fields that others own'),
  force: toggle('force', 'delete and create anew what cannot be changed to what the file says'),
  validate: validateFlag,
  selector: flag(
    'l,selector',
    'SELECTOR',
    '',
    text,
    'only objects of the files with these labels; with --prune: what may be pruned',
  ),
  prune: toggle('prune', 'delete what was applied before, matches -l or --all, and is not in the files any more'),
  all: toggle('all', 'with --prune: whatever its labels are'),
  ...connectionFlags,
}

export type ApplyOptions = OptionsOf<typeof applyFlags>
