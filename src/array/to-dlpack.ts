/**
 * What `toDlpack` is: `dlpack-export.ts`, but in pages.
 */
export { exportDlpack } from './dlpack-export.ts';
