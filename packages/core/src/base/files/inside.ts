import { isAbsolute, relative, sep } from 'node:path'

/** Whether a path is a folder itself or really below it; both are absolute and without links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}
