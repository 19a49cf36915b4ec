/**
 * Explains to the user why the program failed: in one line for errors that the user can fix, and with a stack trace for
 * all others. The text may contain a message from an untrusted server, for example when a node joins, so control
 * characters are escaped.
 */

import { PkiFileError } from '../../api/pki/files.ts'
import { BackupError } from '../../apiserver/backup/backup-error.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { isError } from '../../base/text/errors.ts'
import { ConfigError } from '../../client/node/kubeconfig-files.ts'
import { StatusError } from '../../client/requests/status-error.ts'
import { TransportError } from '../../client/requests/transport.ts'
import { StageError } from '../../cluster/nodes/stages/stage-error.ts'
import { StoreError } from '../../storage/store/store.ts'
import { escapeText } from '../../tools/cli/printers/escape.ts'
import { JoinError } from '../../tools/joining/join-error.ts'

const explainedFailures = [
  ...[UsageError, StoreError, BackupError, PkiFileError, ConfigError, JoinError, StageError],
  ...[StatusError, TransportError],
]

/**
 * Formats an error for the user. Errors that the user can fix are one line long. All others include their stack trace.
 */
export function explainFailure(error: unknown): string {
  return escapeText(isError(error) ? textOf(error) : String(error))
}

function textOf(error: Error): string {
  return explainedFailures.some((each) => error instanceof each) ? error.message : (error.stack ?? error.message)
}
