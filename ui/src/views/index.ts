// The views, in the order of their tabs. A new one is a folder beside this file, and a line here.
import type { View } from '../core/view';
import { answer } from './answer';

export const views: View[] = [
	answer,
];
