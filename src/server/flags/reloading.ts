/**
 * Files that flags name and that may change while the server runs: they are read again, and where the new content is of
 * no use that is logged and what was read before stays in use. Messages name the flag and the file, never the content.
 */

import { FollowedFiles } from '../../base/files/followed-files.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'

/** Reloads files that flags name when they change. */
export interface Reloading {
  /**
   * Calls `reload` when one of the files has changed; it throws where the content is of no use. To be called before
   * they are read for the first time. Gives what ends it.
   */
  follow(flag: string, files: readonly string[], reload: () => void): () => void
  close(): void
}

/** Starts to watch files. Logs each reload, and each file whose new content is invalid. */
export function openReloading(log: Log): Reloading {
  const followed = new FollowedFiles()
  return {
    follow: (flag, files, reload) =>
      followed.follow(files, () => {
        try {
          reload()
          log.info('reloaded a changed file', { flag: `--${flag}`, files: files.join(' ') })
        } catch (error) {
          const message = messageOf(error)
          log.error('cannot use a changed file; its previous content stays in use', { error: message })
        }
      }),
    close: () => followed.close(),
  }
}
