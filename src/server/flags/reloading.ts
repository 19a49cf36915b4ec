/**
 * Reloads files specified by flags whenever they change while the server is running. If the new content is invalid, the
 * server logs an error and continues to use the previous content. Messages name the flag and the file, never the
 * content.
 */

import { FollowedFiles } from '../../base/files/followed-files.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'

/** Reloads files specified by flags whenever they change. */
export interface Reloading {
  /**
   * Calls `reload` whenever one of the files has changed. `reload` throws if the content is invalid. Must be called
   * before the files are first read. Returns a function that stops watching.
   */
  follow(flag: string, files: readonly string[], reload: () => void): () => void
  close(): void
}

/** Starts watching files. Logs each reload, and an error for each file whose new content is invalid. */
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
          log.error('cannot load a changed file; keeping the previous content', { error: message })
        }
      }),
    close: () => followed.close(),
  }
}
