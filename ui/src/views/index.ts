// The views, in the order of their tabs. A new one is a folder beside this file, and a line here.
import type { View } from '../core/view';
import { answer } from './answer';
import { diff } from './diff';
import { paths } from './paths';
import { request } from './request';

export const views: View[] = [
	answer,
	request,
	paths,
	diff,
];
